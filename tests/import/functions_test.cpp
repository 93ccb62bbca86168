// Functions of the model are replaced by their nodes.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Function = onnx_schema::FunctionProto;

const std::string kPreview = "ai.onnx.preview";

Function& add_function(OnnxModel& model, const std::string& name, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs, int opset = 13) {
  auto& function = *model.proto().add_functions();
  function.set_name(name);
  function.set_domain("local");
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  function.add_opset_import()->set_version(opset);
  return function;
}

onnx_schema::NodeProto& add_node(Function& function, const std::string& type,
                                 const std::vector<std::string>& inputs, const std::string& output,
                                 const std::string& domain = {}) {
  auto& node = *function.add_node();
  node.set_op_type(type);
  node.set_domain(domain);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void refer(onnx_schema::NodeProto& node, const std::string& attribute, const std::string& of_function) {
  auto& reference = *node.add_attribute();
  reference.set_name(attribute);
  reference.set_ref_attr_name(of_function);
  reference.set_type(onnx_schema::AttributeProto::FLOAT);
}

// y = call(x), where `call` is a function of the model with these attributes.
OnnxModel calling(const std::string& function, const Attributes& with = {}) {
  OnnxModel model(13);
  model.input("x", {3}).node(function, {"x"}, {"y"}, with, "call").output("y");
  model.proto().mutable_graph()->mutable_node(0)->set_domain("local");
  return model;
}

std::vector<float> run(const OnnxModel& model) {
  return evaluate(model.graph(), std::vector{HostTensor::f32({3}, std::vector<float>{-1, 0, 2})})[0]
      .to_floats();
}

TEST(Functions, AreReplacedByTheirNodesAlsoWithinEachOther) {
  OnnxModel model = calling("Outer");
  Function& inner = add_function(model, "Inner", {"x"}, {"y"});  // names that the graph has too
  add_node(inner, "Neg", {"x"}, "t");
  add_node(inner, "Relu", {"t"}, "y");
  Function& outer = add_function(model, "Outer", {"a"}, {"b"});
  add_node(outer, "Inner", {"a"}, "t", "local");
  add_node(outer, "Inner", {"a"}, "u", "local");
  add_node(outer, "Add", {"t", "u"}, "b");
  EXPECT_EQ(run(model), (std::vector<float>{2, 0, 0}));
}

TEST(Functions, TakeAttributesFromTheCallOrTheirDefaults) {
  const auto leaky = [](const Attributes& with) {
    OnnxModel model = calling("Leaky", with);
    Function& function = add_function(model, "Leaky", {"x"}, {"y"});
    refer(add_node(function, "LeakyRelu", {"x"}, "y"), "alpha", "slope");
    return model;
  };
  EXPECT_EQ(run(leaky(attributes({{"slope", 0.5f}}))), (std::vector<float>{-0.5f, 0, 2}));
  EXPECT_EQ(run(leaky({})), (std::vector<float>{-0.01f, 0, 2}));
  OnnxModel model = leaky({});
  onnx_schema::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx_schema::AttributeProto::FLOAT);
  slope.set_f(3.0f);
  const std::string bytes = slope.SerializeAsString();
  // attribute_proto, field 11, which the schema may lack
  *model.proto().mutable_functions(0)->mutable_unknown_fields() +=
      std::string("\x5a") + static_cast<char>(bytes.size()) + bytes;
  EXPECT_EQ(run(model), (std::vector<float>{-3, 0, 2}));
}

TEST(Functions, MayOutputTheirInput) {
  OnnxModel model = calling("Same");
  add_function(model, "Same", {"v"}, {"v"});
  EXPECT_EQ(run(model), (std::vector<float>{-1, 0, 2}));
}

TEST(Functions, ThatCannotBeReplacedAreRefused) {
  OnnxModel endless = calling("Again");
  add_node(add_function(endless, "Again", {"x"}, {"y"}), "Again", {"x"}, "y", "local");
  EXPECT_VELLUM_ERROR(endless.graph(), ErrorCode::unsupported, "deep");
  OnnxModel doubling = calling("F0");
  for (int i = 0; i < 40; ++i) {
    Function& function = add_function(doubling, "F" + std::to_string(i), {"x"}, {"y"});
    add_node(function, "F" + std::to_string(i + 1), {"x"}, "t", "local");
    add_node(function, "F" + std::to_string(i + 1), {"t"}, "y", "local");
  }
  add_node(add_function(doubling, "F40", {"x"}, {"y"}), "Relu", {"x"}, "y");
  EXPECT_VELLUM_ERROR(doubling.graph(), ErrorCode::unsupported, "nodes");
  OnnxModel older = calling("Old");
  add_node(add_function(older, "Old", {"x"}, {"y"}, 7), "Relu", {"x"}, "y");
  EXPECT_VELLUM_ERROR(older.graph(), ErrorCode::unsupported, "operator set 7");
  OnnxModel many = calling("Relu1");
  add_function(many, "Relu1", {}, {"y"});
  EXPECT_VELLUM_ERROR(many.graph(), ErrorCode::corrupt_model, "'call'", "fewer inputs");
}

// softmax(0.5 * Q K^T + 1 - 1) V, where the graph of an attribute adds and subtracts.
TEST(Functions, GraphsOfFlexAttentionAreBetweenItsProducts) {
  OnnxModel modifier;
  modifier.input("s", {1, 1, 2, 2}).initializer("one", HostTensor::f32({}, std::vector<float>{1.0f}));
  modifier.node("Add", {"s", "one"}, {"t"}).node("Sub", {"t", "one"}, {"u"}).output("u");
  const auto attention = [&](const char* name) {
    OnnxModel model(26);
    model.input("q", {1, 1, 2, 4}).input("k", {1, 1, 2, 4}).input("v", {1, 1, 2, 3});
    model.node("FlexAttention", {"q", "k", "v"}, {"y"}, {}, "flex").output("y");
    auto& node = *model.proto().mutable_graph()->mutable_node(0);
    node.set_domain(kPreview);
    if (name != nullptr) {
      auto& attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx_schema::AttributeProto::GRAPH);
      *attribute.mutable_g() = modifier.proto().graph();
    }
    return model.graph();
  };
  const std::vector<HostTensor> inputs{random_tensor({1, 1, 2, 4}, 1), random_tensor({1, 1, 2, 4}, 2),
                                       random_tensor({1, 1, 2, 3}, 3)};
  const HostTensor plain = evaluate(attention(nullptr), inputs)[0];
  EXPECT_TRUE(close(evaluate(attention("score_mod"), inputs)[0], plain, 1e-5));
  EXPECT_TRUE(close(evaluate(attention("prob_mod"), inputs)[0], plain, 1e-5));
  EXPECT_EQ(attention("score_mod").nodes.size(), 5u);
  modifier.input("more", {1});
  EXPECT_VELLUM_ERROR(attention("score_mod"), ErrorCode::corrupt_model, "flex", "one input and one output");
}

// Each level puts names before those of all levels within it.
TEST(Functions, NamesOfNestedFlexAttentionStayShort) {
  onnx_schema::GraphProto inner;
  inner.add_input()->set_name("p");
  inner.add_output()->set_name("p");
  for (int level = 0; level < 20; ++level) {
    onnx_schema::GraphProto outer;
    outer.add_input()->set_name("p");
    outer.add_output()->set_name("q");
    auto& node = *outer.add_node();
    node.set_op_type("FlexAttention");
    node.set_domain(kPreview);
    for (int i = 0; i < 3; ++i) node.add_input("p");
    node.add_output("q");
    auto& attribute = *node.add_attribute();
    attribute.set_name("score_mod");
    attribute.set_type(onnx_schema::AttributeProto::GRAPH);
    *attribute.mutable_g() = inner;
    inner = outer;
  }
  OnnxModel model(26);
  model.input("p", {1, 1, 2, 2}).output("q");
  *model.proto().mutable_graph()->mutable_node() = inner.node();
  size_t longest = 0;
  for (const Value& value : model.graph().values) longest = std::max(longest, value.name.size());
  EXPECT_LT(longest, 10000u);
}

}  // namespace
}  // namespace vellum::test

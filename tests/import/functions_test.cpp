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
  add_node(add_function(older, "Old", {"x"}, {"y"}, 0), "Relu", {"x"}, "y");
  EXPECT_VELLUM_ERROR(older.graph(), ErrorCode::corrupt_model, "operator set 0");
  OnnxModel both = calling("Both");
  add_function(both, "Both", {"x"}, {"x"}, 11).add_opset_import()->set_version(13);
  EXPECT_VELLUM_ERROR(both.graph(), ErrorCode::corrupt_model, "operator set 13 and 11");
  OnnxModel many = calling("Relu1");
  add_function(many, "Relu1", {}, {"y"});
  EXPECT_VELLUM_ERROR(many.graph(), ErrorCode::corrupt_model, "'call'", "fewer inputs");
}

// Operators that compute something else, or are written otherwise, in other operator sets.
struct VersionedNode {
  const char* name;
  int first, last;  // operator sets in which this form is valid
  const char* type;
  std::vector<std::string> inputs;
  Attributes with;
};

const std::vector<VersionedNode>& versioned_nodes() {
  using Ints = Attributes::Ints;
  static const std::vector<VersionedNode> nodes{
      {"softmax over what follows", 1, 12, "Softmax", {"x"}, {}},
      {"softmax of the last", 13, 28, "Softmax", {"x"}, {}},
      {"hardmax over what follows", 1, 12, "Hardmax", {"x"}, {}},
      {"log-softmax of the last", 13, 28, "LogSoftmax", {"x"}, {}},
      {"sum by attribute", 1, 12, "ReduceSum", {"x"}, attributes({{"axes", Ints{1}}})},
      {"sum by input", 13, 28, "ReduceSum", {"x", "axes"}, {}},
      {"mean by attribute", 1, 17, "ReduceMean", {"x"}, attributes({{"axes", Ints{1}}})},
      {"mean by input", 18, 28, "ReduceMean", {"x", "axes"}, {}},
      {"squeeze by attribute", 1, 12, "Unsqueeze", {"x"}, attributes({{"axes", Ints{1}}})},
      {"unsqueeze by input", 13, 28, "Unsqueeze", {"x", "axes"}, {}},
      {"clip by attributes", 6, 10, "Clip", {"x"}, attributes({{"min", -0.5f}, {"max", 0.5f}})},
      {"clip by inputs", 11, 28, "Clip", {"x", "low", "high"}, {}},
      {"pad by attribute", 2, 10, "Pad", {"x"}, attributes({{"pads", Ints{0, 1, 0, 0, 0, 2}}})},
      {"slice by attributes",
       1,
       9,
       "Slice",
       {"x"},
       attributes({{"starts", Ints{1}}, {"ends", Ints{3}}, {"axes", Ints{1}}})},
      {"slice by inputs", 10, 28, "Slice", {"x", "axes", "ends"}, {}},
  };
  return nodes;
}

// y = the node of x [2, 3, 4], in the graph or in a function of another operator set than the model's; there
// also in a branch.
OnnxModel versioned_model(const VersionedNode& wanted, int model_opset, int node_opset, bool in_function,
                          bool in_branch) {
  OnnxModel model(model_opset);
  if (std::max(model_opset, node_opset) > 17) model.proto().set_ir_version(10);
  model.input("x", {2, 3, 4});
  const std::vector<std::pair<const char*, HostTensor>> constants{
      {"axes", HostTensor::i64({1}, std::vector<int64_t>{1})},
      {"ends", HostTensor::i64({1}, std::vector<int64_t>{2})},
      {"low", HostTensor::f32({}, std::vector<float>{-0.5f})},
      {"high", HostTensor::f32({}, std::vector<float>{0.5f})}};
  std::vector<std::string> formal{"x"};
  for (const auto& [name, tensor] : constants) {
    model.initializer(name, tensor);
    formal.emplace_back(name);
  }
  // The builder converts the attributes.
  OnnxModel form(node_opset);
  form.node(wanted.type, wanted.inputs, {"y"}, wanted.with, "inner");
  const auto& inner = form.proto().graph().node(0);
  if (!in_function) {
    *model.proto().mutable_graph()->add_node() = inner;
  } else {
    Function& function = add_function(model, "F", formal, {"y"}, node_opset);
    if (in_branch) {
      add_node(function, "Constant", {}, "always");
      auto& value = *function.mutable_node(0)->add_attribute();
      value.set_name("value");
      value.set_type(onnx_schema::AttributeProto::TENSOR);
      value.mutable_t()->set_data_type(9);
      value.mutable_t()->set_raw_data(std::string(1, '\1'));
      auto& choice = add_node(function, "If", {"always"}, "y");
      for (const char* name : {"then_branch", "else_branch"}) {
        auto& branch = *choice.add_attribute();
        branch.set_name(name);
        branch.set_type(onnx_schema::AttributeProto::GRAPH);
        *branch.mutable_g()->add_node() = inner;
        branch.mutable_g()->mutable_node(0)->set_output(0, "z");
        branch.mutable_g()->add_output()->set_name("z");
      }
    } else {
      *function.add_node() = inner;
    }
    model.node("local.F", formal, {"y"}, {}, "call");
  }
  model.output("y");
  return model;
}

TEST(Functions, MayBeWrittenInAnotherOperatorSetThanTheModel) {
  const HostTensor x = random_tensor({2, 3, 4}, 1);
  int compared = 0;
  for (const VersionedNode& node : versioned_nodes())
    for (const int node_opset : {node.first, (node.first + node.last) / 2, node.last})
      for (const int model_opset : {7, 9, 11, 13, 18, 24, 28})
        for (const bool in_branch : {false, true}) {
          const std::vector<HostTensor> inputs{x};
          const HostTensor want =
              evaluate(versioned_model(node, node_opset, node_opset, false, false).graph(), inputs)[0];
          const Graph graph = versioned_model(node, model_opset, node_opset, true, in_branch).graph();
          EXPECT_TRUE(close(evaluate(graph, inputs)[0], want, 0.0))
              << node.name << " of " << node_opset << " in " << model_opset
              << (in_branch ? ", in a branch" : "");
          ++compared;
        }
  EXPECT_EQ(compared, 15 * 3 * 7 * 2);
}

// A function of operator set 11 calls one of 13, which calls one of 9; the model is of 18.
TEST(Functions, OfSeveralOperatorSetsCallEachOther) {
  OnnxModel model(18);
  model.input("x", {2, 3, 4}).node("local.A", {"x"}, {"y"}, {}, "call").output("y");
  Function& a = add_function(model, "A", {"x"}, {"y"}, 11);
  add_node(a, "B", {"x"}, "t", "local");
  add_node(a, "Softmax", {"t"}, "y");
  Function& b = add_function(model, "B", {"x"}, {"y"}, 13);
  add_node(b, "Softmax", {"x"}, "t");
  add_node(b, "C", {"t"}, "y", "local");
  add_node(add_function(model, "C", {"x"}, {"y"}, 9), "Softmax", {"x"}, "y");
  OnnxModel plain(18);
  plain.input("x", {2, 3, 4}).node("Softmax", {"x"}, {"s"}, attributes({{"axis", int64_t{-1}}}));
  plain.initializer("flat", HostTensor::i64({2}, std::vector<int64_t>{2, 12}))
      .initializer("back", HostTensor::i64({3}, std::vector<int64_t>{2, 3, 4}))
      .node("Reshape", {"s", "flat"}, {"f"})
      .node("Softmax", {"f"}, {"g"})
      .node("Softmax", {"g"}, {"h"})
      .node("Reshape", {"h", "back"}, {"y"})
      .output("y");
  const std::vector<HostTensor> inputs{random_tensor({2, 3, 4}, 1)};
  EXPECT_TRUE(close(evaluate(model.graph(), inputs)[0], evaluate(plain.graph(), inputs)[0], 1e-6));
}

// The importer's own mark means nothing in a file.
TEST(Functions, AFileCannotGiveANodeAnotherOperatorSet) {
  const HostTensor x = random_tensor({2, 3, 4}, 1);
  const auto softmax = [&](const Attributes& with) {
    OnnxModel model(13);
    model.input("x", {2, 3, 4}).node("Softmax", {"x"}, {"y"}, with).output("y");
    return evaluate(model.graph(), std::vector<HostTensor>{x})[0];
  };
  EXPECT_TRUE(close(softmax(attributes({{"vellum.operator_set", int64_t{11}}})), softmax({}), 0.0));
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

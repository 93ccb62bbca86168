// If: read with what its graphs take from outside, and replaced by the chosen one where the condition is
// known.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <random>
#include <string>
#include <vector>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

// Adds an If that reads `condition` and computes `output` by one of two graphs.
void add_if(OnnxModel& model, const std::string& condition, const OnnxModel& then_branch,
            const OnnxModel& else_branch, const std::string& output) {
  model.node("If", {condition}, {output}, {}, "choice");
  auto& graph = *model.proto().mutable_graph();
  auto& node = *graph.mutable_node(graph.node_size() - 1);
  for (const auto& [name, branch] :
       {std::pair("then_branch", &then_branch), std::pair("else_branch", &else_branch)}) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx_schema::AttributeProto::GRAPH);
    *attribute.mutable_g() = const_cast<OnnxModel*>(branch)->proto().graph();
  }
}

OnnxModel branch(const std::string& type, const std::string& input) {
  OnnxModel model;
  model.node(type, {input}, {"out"}).output("out");
  return model;
}

HostTensor boolean(bool value) {
  HostTensor tensor(DType::boolean, {1});
  tensor.mutable_as<uint8_t>()[0] = value;
  return tensor;
}

// Neg or Abs of a = x + x, depending on whether x has three rows, which the shape says.
OnnxModel choice_by_shape() {
  OnnxModel model;
  model.input("x", {kUnknownDim, 4}).node("Add", {"x", "x"}, {"a"}).node("Shape", {"x"}, {"shape"});
  model.initializer("zero", HostTensor::i64({1}, std::vector<int64_t>{0}));
  model.initializer("three", HostTensor::i64({1}, std::vector<int64_t>{3}));
  model.node("Gather", {"shape", "zero"}, {"rows"}).node("Equal", {"rows", "three"}, {"condition"});
  add_if(model, "condition", branch("Neg", "a"), branch("Abs", "a"), "y");
  model.output("y");
  return model;
}

TEST(Branch, ShapesChooseTheGraph) {
  for (const int64_t rows : {3, 2}) {
    const Graph imported = choice_by_shape().graph();
    const Graph graph = optimise(imported, {{"x", {rows, 4}}});
    ASSERT_EQ(graph.nodes.size(), 2u);
    EXPECT_EQ(graph.nodes[1].op->type(), rows == 3 ? "Neg" : "Abs");
    EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
    EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{rows, 4}));
    const std::vector<HostTensor> inputs = {random_tensor({rows, 4}, 1)};
    EXPECT_TRUE(close(evaluate(graph, inputs)[0], evaluate(imported, inputs)[0], 0.0));
  }
}

TEST(Branch, GraphMayReturnWhatItTookOrAConstant) {
  for (const bool condition : {true, false}) {
    OnnxModel model, constant;
    constant.initializer("c", random_tensor({2}, 5)).output("c");
    model.input("x", {2}).initializer("condition", boolean(condition));
    OnnxModel passed;
    passed.output("x");
    add_if(model, "condition", passed, constant, "r");
    model.node("Neg", {"r"}, {"y"}).output("y");
    const Graph imported = model.graph();
    const std::vector<HostTensor> inputs = {random_tensor({2}, 1)};
    const Graph graph = optimise(imported, {});
    EXPECT_EQ(graph.nodes.size(), condition ? 1u : 0u);
    EXPECT_TRUE(close(evaluate(graph, inputs)[0], evaluate(imported, inputs)[0], 0.0));
  }
}

TEST(Branch, NestedChoicesUseOuterValues) {
  OnnxModel inner;
  add_if(inner, "condition", branch("Neg", "x"), branch("Abs", "x"), "out");
  inner.output("out");
  OnnxModel model;
  model.input("x", {2}).initializer("condition", boolean(true));
  add_if(model, "condition", inner, branch("Relu", "x"), "y");
  const Graph graph = optimise(model.output("y").graph(), {});
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op->type(), "Neg");
}

TEST(Branch, ChoicesWithTheSameInnerNames) {
  OnnxModel model;
  model.input("x", {2}).initializer("condition", boolean(true));
  add_if(model, "condition", branch("Neg", "x"), branch("Abs", "x"), "a");
  add_if(model, "condition", branch("Relu", "a"), branch("Abs", "a"), "y");
  const Graph graph = optimise(model.output("y").graph(), {});
  EXPECT_EQ(graph.nodes.size(), 2u);
}

TEST(Branch, GraphsAreReadAfterWhatTheyTake) {
  OnnxModel model;
  model.input("x", {2}).initializer("condition", boolean(true));
  add_if(model, "condition", branch("Neg", "late"), branch("Abs", "late"), "y");
  model.node("Relu", {"x"}, {"late"}).output("y");
  EXPECT_EQ(optimise(model.graph(), {}).nodes.size(), 2u);
}

// The graphs give other shapes, and an operator follows.
TEST(Branch, ConditionOfDataIsEvaluatedOnTheHost) {
  OnnxModel model, sum;
  model.input("x", {65}).node("Relu", {"x"}, {"a"});  // fewer elements could decide shapes
  model.initializer("zero", HostTensor::f32({}, std::vector<float>{0}));
  model.node("ReduceSum", {"a"}, {"total"}, attributes({{"keepdims", int64_t{0}}}));
  model.node("Greater", {"total", "zero"}, {"condition"});
  sum.node("ReduceSum", {"x"}, {"out"}).output("out");
  add_if(model, "condition", branch("Neg", "a"), sum, "r");
  model.node("Abs", {"r"}, {"y"}).output("y");
  const Graph imported = model.graph(), graph = optimise(imported, {});
  ASSERT_TRUE(graph.tail);
  EXPECT_EQ(graph.tail->graph.nodes.front().op->type(), "If");
  for (const float value : {2.0f, -2.0f}) {
    const std::vector<HostTensor> inputs{HostTensor::f32({65}, std::vector<float>(65, value))};
    const HostTensor y = evaluate(graph, inputs)[0];
    EXPECT_EQ(y.shape(), (Shape{value > 0 ? 65 : 1}));
    EXPECT_TRUE(close(y, evaluate(imported, inputs)[0], 0.0));
  }
}

// Outputs have the dimensions in which both graphs agree.
TEST(Branch, TypesFollowFromBothGraphs) {
  for (const int64_t rows : {int64_t{9}, kUnknownDim}) {
    OnnxModel model, second;
    model.input("x", {9, 8}).node("Relu", {"x"}, {"a"});
    model.initializer("zero", HostTensor::f32({}, std::vector<float>{0}));
    model.node("ReduceSum", {"a"}, {"total"}, attributes({{"keepdims", int64_t{0}}}));
    model.node("Greater", {"total", "zero"}, {"condition"});
    second.initializer("first", HostTensor::i64({1}, std::vector<int64_t>{0}));
    if (rows == kUnknownDim)
      second.node("Gather", {"a", "first"}, {"out"}, attributes({{"axis", int64_t{0}}}));
    else
      second.node("Abs", {"a"}, {"out"});
    second.output("out");
    add_if(model, "condition", branch("Neg", "a"), second, "y");
    const Graph graph = optimise(model.output("y").graph(), {});
    ASSERT_TRUE(graph.tail);
    EXPECT_EQ(model_outputs(graph)[0]->type, (TensorType{DType::f32, {rows, 8}}));
  }
}

TEST(Branch, ConditionOfRunTimeNeedsItsValue) {
  OnnxModel model;
  model.input("x", {2}).input("condition", {1}, DType::boolean);
  add_if(model, "condition", branch("Neg", "x"), branch("Abs", "x"), "y");
  const Graph graph = model.output("y").graph();
  EXPECT_VELLUM_ERROR(optimise(graph, {}), ErrorCode::invalid_argument, "condition", "decide shapes");
}

TEST(Branch, DamagedChoicesAreRefused) {
  const std::string ghost = "no", unknown = "Hm", second = "second", data = "x";
  const auto damaged = [](auto&& damage) {
    OnnxModel model;
    model.input("x", {2}).initializer("condition", boolean(true));
    add_if(model, "condition", branch("Neg", "x"), branch("Abs", "x"), "y");
    model.output("y");
    damage(*model.proto().mutable_graph()->mutable_node(0));
    return optimise(model.graph(), {});
  };
  EXPECT_VELLUM_ERROR(damaged([&](auto& node) { node.mutable_attribute()->RemoveLast(); }),
                      ErrorCode::corrupt_model, "If 'choice'", "two graphs");
  EXPECT_VELLUM_ERROR(damaged([&](auto& node) { node.mutable_attribute(1)->set_name("other"); }),
                      ErrorCode::corrupt_model, "If 'choice'", "else_branch is missing");
  EXPECT_VELLUM_ERROR(damaged([&](auto& node) {
                        node.mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, ghost);
                      }),
                      ErrorCode::corrupt_model, "If 'choice'", "then_branch", "'no'");
  EXPECT_VELLUM_ERROR(
      damaged([&](auto& node) { node.mutable_attribute(0)->mutable_g()->add_input()->set_name("i"); }),
      ErrorCode::corrupt_model, "If 'choice'", "no inputs");
  EXPECT_VELLUM_ERROR(damaged([&](auto& node) { node.add_output(second); }), ErrorCode::corrupt_model,
                      "If 'choice'", "fewer outputs");
  EXPECT_VELLUM_ERROR(damaged([&](auto& node) {
                        node.mutable_attribute(1)->mutable_g()->mutable_node(0)->set_op_type(unknown);
                      }),
                      ErrorCode::unsupported, "'Hm'");
  EXPECT_VELLUM_ERROR(damaged([&](auto& node) { node.set_input(0, data); }), ErrorCode::invalid_argument,
                      "decide shapes");
}

TEST(Branch, FlippedBytesAreRefusedOrSound) {
  std::mt19937 random(5);
  const std::string whole = choice_by_shape().bytes();
  size_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] ^= static_cast<char>(1u << (random() % 8));
    try {
      check(optimise(import_model(as_bytes(damaged)), {}));
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 200u);
  EXPECT_LT(refused, 2000u);
}

}  // namespace
}  // namespace vellum::test

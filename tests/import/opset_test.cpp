// Operators whose form changed with the operator set: what opset 22 writes computes what opset 11 or 13
// wrote.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/small_tensors.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

OnnxModel image_model(int opset) {
  OnnxModel model(opset);
  if (opset > 17) model.proto().set_ir_version(10);
  model.input("x", {1, 4, 6, 5});
  return model;
}

// Each output of one model against that of the other; graph inputs are equal.
void expect_same(const OnnxModel& a, const OnnxModel& b) {
  const Graph first = optimise(a.graph(), {}), second = optimise(b.graph(), {});
  const auto inputs = random_inputs(first, 1);
  const auto results = evaluate(first, inputs), expected = evaluate(second, inputs);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_TRUE(close(results[i], expected[i], 0.0)) << "output " << i;
}

TEST(Opset, ReductionsTakeAxesAsAnInput) {
  for (const char* type : {"ReduceMean", "ReduceMax", "ReduceL2"}) {
    OnnxModel old = image_model(13), now = image_model(22);
    old.node(type, {"x"}, {"y"}, attributes({{"axes", Ints{2, 3}}})).output("y");
    now.initializer("axes", ints({2, 3})).node(type, {"x", "axes"}, {"y"}).output("y");
    expect_same(now, old);
  }
}

TEST(Opset, SplitIntoANumberOfOutputs) {
  OnnxModel old = image_model(13), now = image_model(22);
  old.initializer("sizes", ints({2, 2, 1}))
      .node("Split", {"x", "sizes"}, {"a", "b", "c"}, attributes({{"axis", int64_t{3}}}));
  now.node("Split", {"x"}, {"a", "b", "c"}, attributes({{"axis", int64_t{3}}, {"num_outputs", int64_t{3}}}));
  for (const char* name : {"a", "b", "c"}) old.output(name), now.output(name);
  expect_same(now, old);
}

TEST(Opset, PadOfSomeAxes) {
  OnnxModel old = image_model(13), now = image_model(22);
  old.initializer("pads", ints({0, 0, 0, 1, 0, 0, 0, 2})).node("Pad", {"x", "pads"}, {"y"}).output("y");
  now.initializer("pads", ints({1, 2})).initializer("axes", ints({-1}));
  now.node("Pad", {"x", "pads", "", "axes"}, {"y"}).output("y");
  expect_same(now, old);
}

TEST(Opset, ResizeOfSomeAxes) {
  const auto linear = attributes({{"mode", std::string("linear")}});
  OnnxModel old = image_model(13), now = image_model(22);
  old.initializer("sizes", ints({1, 4, 12, 15}))
      .node("Resize", {"x", "", "", "sizes"}, {"y"}, linear)
      .output("y");
  now.initializer("sizes", ints({12, 15}));
  now.node("Resize", {"x", "", "", "sizes"}, {"y"},
           attributes({{"mode", std::string("linear")}, {"axes", Ints{2, 3}}, {"antialias", int64_t{0}}}));
  expect_same(now.output("y"), old);
}

TEST(Opset, OperatorsThatUsedToBeComposed) {
  OnnxModel old = image_model(13), now = image_model(22);
  old.node("Softplus", {"x"}, {"s"}).node("Tanh", {"s"}, {"t"}).node("Mul", {"x", "t"}, {"y"}).output("y");
  now.node("Mish", {"x"}, {"y"}).output("y");
  const Graph first = old.graph(), second = now.graph();
  const std::vector<HostTensor> inputs = {random_tensor({1, 4, 6, 5}, 1)};
  EXPECT_TRUE(close(evaluate(second, inputs)[0], evaluate(first, inputs)[0], 1e-6));
}

TEST(Opset, AttributesOfOlderSets) {
  OnnxModel old = image_model(7), now = image_model(22);
  old.node("Slice", {"x"}, {"a"},
           attributes({{"starts", Ints{1, 0}}, {"ends", Ints{3, -1}}, {"axes", Ints{1, 3}}}));
  old.node("Clip", {"a"}, {"b"}, attributes({{"min", -0.25f}, {"max", 0.5f}}));
  old.node("Pad", {"b"}, {"c"}, attributes({{"pads", Ints{0, 0, 1, 1, 0, 0, 0, 2}}, {"value", 1.5f}}));
  old.node("Unsqueeze", {"c"}, {"y"}, attributes({{"axes", Ints{0}}})).output("y");
  now.initializer("starts", ints({1, 0}))
      .initializer("ends", ints({3, -1}))
      .initializer("axes", ints({1, 3}));
  now.initializer("low", HostTensor::f32({}, std::vector<float>{-0.25f}));
  now.initializer("high", HostTensor::f32({}, std::vector<float>{0.5f}));
  now.initializer("pads", ints({0, 0, 1, 1, 0, 0, 0, 2}))
      .initializer("value", HostTensor::f32({}, std::vector<float>{1.5f}));
  now.initializer("front", ints({0}));
  now.node("Slice", {"x", "starts", "ends", "axes"}, {"a"}).node("Clip", {"a", "low", "high"}, {"b"});
  now.node("Pad", {"b", "pads", "value"}, {"c"}).node("Unsqueeze", {"c", "front"}, {"y"}).output("y");
  expect_same(now, old);
}

}  // namespace
}  // namespace vellum::test

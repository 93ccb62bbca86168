// Where a quantised network goes on in floats, and the reason in words.
#include "compile/float_boundaries.hpp"

#include <gtest/gtest.h>

#include <string>

#include "passes/passes.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

void round_to(OnnxModel& model, const std::string& from, const std::string& to, float step,
              DType dtype = DType::u8) {
  model.initializer(to + "_s", HostTensor::f32({}, std::array{step}));
  model.initializer(to + "_z", HostTensor::from<int64_t>(dtype, {}, std::array<int64_t, 1>{100}));
  model.node("QuantizeLinear", {from, to + "_s", to + "_z"}, {to + "_q"});
  model.node("DequantizeLinear", {to + "_q", to + "_s", to + "_z"}, {to});
}

// Returns "tensor: reason" of the only boundary.
std::string only_boundary(const OnnxModel& model) {
  const Graph graph = optimise(model.graph(), {});
  const std::vector<FloatBoundary> found = float_boundaries(graph);
  EXPECT_EQ(found.size(), 1u) << to_text(graph) << to_text(graph, found);
  return found.empty() ? "" : graph.values[found[0].value].name + ": " + found[0].reason;
}

// x, rounded, and a convolution "c" of it.
OnnxModel convolution() {
  OnnxModel model;
  model.input("x", {1, 4, 5, 6}).initializer("w", random_tensor({8, 4, 3, 3}, 1));
  round_to(model, "x", "x_r", 0.1f);
  model.node("Conv", {"x_r", "w"}, {"c"}, {}, "conv");
  return model;
}

TEST(FloatBoundaries, NameResultsThatNothingRounds) {
  OnnxModel model = convolution();
  model.node("LeakyRelu", {"c"}, {"y"}, {}, "leaky").node("Exp", {"y"}, {"z"}).output("z");
  EXPECT_EQ(only_boundary(model), "y: no QuantizeLinear rounds the result of Conv");
}

TEST(FloatBoundaries, NameOutputs) {
  EXPECT_EQ(only_boundary(convolution().output("c")),
            "c: it is an output of the network, which nothing rounds");
}

TEST(FloatBoundaries, NameResultsWithMoreNumbersThanAByteHas) {
  OnnxModel model = convolution();
  round_to(model, "c", "c_r", 0.1f, DType::i16);
  model.node("Exp", {"c_r"}, {"z"}).output("z");
  const std::string boundary = only_boundary(model);
  EXPECT_NE(boundary.find(": it is rounded to 65536 numbers, and a byte has 256"), std::string::npos)
      << boundary;
}

TEST(FloatBoundaries, NamePartsOfOtherScales) {
  OnnxModel model;
  model.input("a", {1, 4, 3, 3}).input("b", {1, 4, 3, 3}).output("y");
  round_to(model, "a", "a_r", 0.25f);
  round_to(model, "b", "b_r", 0.5f);
  model.node("Concat", {"a_r", "b_r"}, {"y"}, attributes({{"axis", int64_t{1}}}));
  const std::string boundary = only_boundary(model);
  EXPECT_NE(boundary.find("have the scales 0.25 and 0.5, and nothing rounds the whole"), std::string::npos)
      << boundary;
}

TEST(FloatBoundaries, AreNoneInNetworksOfFloats) {
  OnnxModel model;
  model.input("x", {1, 4, 5, 6}).node("Exp", {"x"}, {"y"}).output("y");
  EXPECT_TRUE(float_boundaries(optimise(model.graph(), {})).empty());
}

}  // namespace
}  // namespace vellum::test

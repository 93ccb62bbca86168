// Cross-layer equalisation keeps results and equalises ranges.
#include "quantize/equalize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quantize/layers.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::quantization {
namespace {

using test::attributes;
using test::close;
using test::OnnxModel;
using test::random_tensor;

// Conv 1x1, an activation, a depthwise Conv, PRelu, Conv 1x1. The first channel of the first is 100 times the
// others.
Graph chain(const std::string& activation) {
  HostTensor first = random_tensor({4, 3, 1, 1}, 1);
  for (size_t i = 0; i < 3; ++i) first.mutable_as<float>()[i] *= 100.0f;
  OnnxModel model(17);
  model.input("x", {1, 3, 5, 5})
      .initializer("w1", first)
      .initializer("b1", random_tensor({4}, 2))
      .initializer("w2", random_tensor({4, 1, 3, 3}, 3))
      .initializer("slope", random_tensor({4, 1, 1}, 4))
      .initializer("w3", random_tensor({2, 4, 1, 1}, 5))
      .node("Conv", {"x", "w1", "b1"}, {"a"})
      .node(activation, {"a"}, {"b"})
      .node("Conv", {"b", "w2"}, {"c"}, attributes({{"group", int64_t{4}}}))
      .node("PRelu", {"c", "slope"}, {"d"})
      .node("Conv", {"d", "w3"}, {"y"})
      .output("y");
  return float_graph(model.graph(), {});
}

float largest(const HostTensor& weights, size_t channel, size_t each) {
  float result = 0.0f;
  for (size_t i = 0; i < each; ++i)
    result = std::max(result, std::fabs(weights.as<float>()[channel * each + i]));
  return result;
}

float ratio_of_channels(const Graph& graph) {
  const HostTensor& weights = *graph.constant(graph.nodes[0].inputs[1]);
  return largest(weights, 0, 3) / largest(weights, 1, 3);
}

TEST(Equalize, ChannelsGetEqualRangesAndResultsStay) {
  const Graph before = chain("Relu");
  Graph after = before;
  equalize(after);
  const std::vector<HostTensor> inputs{random_tensor({1, 3, 5, 5}, 9)};
  const HostTensor expected = evaluate(before, inputs)[0];
  float scale = 0.0f;
  for (const float value : expected.to_floats()) scale = std::max(scale, std::fabs(value));
  EXPECT_TRUE(close(evaluate(after, inputs)[0], expected, 1e-5 * static_cast<double>(scale)));
  EXPECT_GT(ratio_of_channels(before), 50.0f);
  EXPECT_LT(ratio_of_channels(after), 15.0f);
}

TEST(Equalize, NothingMovesThroughOtherFunctions) {
  const Graph before = chain("Sigmoid");
  Graph after = before;
  equalize(after);
  EXPECT_EQ(ratio_of_channels(before), ratio_of_channels(after));
}

}  // namespace
}  // namespace vellum::quantization

// A 1x1 convolution and the depthwise convolution after it in one kernel, with functions of the rounded
// results by tables, against the host references of all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "kernels/fused/expand.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace expand_table_test {

// Multiples of 1/16, so that sums are exact and all devices round them alike.
HostTensor of_sixteenths(Shape shape, uint32_t seed) {
  HostTensor tensor = random_tensor(std::move(shape), seed, -1.5f, 1.5f);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(16 * value) / 16;
  return tensor;
}

HostTensor entries_by(int factor) {
  std::vector<float> values;
  for (int i = 0; i < ByteTable::kEntries; ++i)
    values.push_back(static_cast<float>(i * factor % 256 - 128) / 64);
  return HostTensor::f32({ByteTable::kEntries}, values);
}

struct Layers {
  Shape x;
  int64_t channels = 8, kernel = 3, stride = 1;
  bool biases = true, middle = true, last = true;
};

std::shared_ptr<const ByteTable> table_of(const Activation& activation) {
  auto table = std::make_shared<ByteTable>();
  table->x_step = activation.step;
  table->first = -128;
  table->y_step = 1.0f / 64;
  table->y_least = -128, table->y_most = 127;
  return table;
}

OperatorCase expand(const Layers& layers) {
  const int64_t channels = layers.channels;
  auto pointwise = std::make_shared<Conv>(), depthwise = std::make_shared<Conv>();
  pointwise->activation = {.step = 0.125f, .least = -100, .most = 120};
  depthwise->group = channels;
  depthwise->window.strides = {layers.stride, layers.stride};
  depthwise->window.pads.assign(4, layers.kernel / 2);
  depthwise->activation = {.step = 0.25f, .least = -60, .most = 125};
  OperatorCase test{.type = "ExpandConv", .inputs = {}};
  test.inputs = {of_sixteenths(layers.x, 1),
                 of_sixteenths({channels, layers.x[1], 1, 1}, 2),
                 of_sixteenths({channels}, 3),
                 of_sixteenths({channels, 1, layers.kernel, layers.kernel}, 4),
                 of_sixteenths({channels}, 5),
                 entries_by(97),
                 entries_by(31)};
  if (!layers.biases) test.inputs[2] = test.inputs[4] = std::nullopt;
  if (!layers.middle) test.inputs[5] = std::nullopt;
  if (!layers.last) test.inputs[6] = std::nullopt;
  test.constants = {1, 2, 3, 4, 5, 6};
  test.op = expand_nodes(pointwise, depthwise, nullptr,
                         {layers.middle ? table_of(pointwise->activation) : nullptr,
                          layers.last ? table_of(depthwise->activation) : nullptr});
  test.sweep.linear_inputs = false;
  test.sweep.fp16 = test.sweep.arithmetic_fp16 = false;  // halves of sums may be rounded to another step
  return test;
}

void check(const Layers& layers) {
  const DeviceCaps gpu = gpu_named("NAVI31");
  check_operator(expand(layers), gpu);
  check_candidates(expand(layers), {.caps = gpu});
}

// Padding is zero after the table, which maps no other number to zero.
TEST(ExpandTable, BothLayers) {
  check({.x = {2, 6, 7, 9}, .channels = 13});
  check({.x = {1, 9, 9, 11}, .channels = 5, .stride = 2});
  check({.x = {1, 7, 8, 13}, .channels = 13, .kernel = 5, .biases = false});
}

TEST(ExpandTable, OneOfTheLayers) {
  check({.x = {1, 6, 7, 9}, .last = false});
  check({.x = {1, 6, 7, 9}, .channels = 10, .middle = false});
}

// y = the layers of `graph`, each rounded and followed by a SiLU and another rounding.
OnnxModel quantised_layers() {
  OnnxModel model;
  model.input("x", {1, 24, 28, 28})
      .initializer("w1", of_sixteenths({144, 24, 1, 1}, 2))
      .initializer("w2", of_sixteenths({144, 1, 3, 3}, 3))
      .initializer("step", HostTensor::f32({}, std::vector<float>{0.0625f}))
      .initializer("zero", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  const auto round = [&](const std::string& from, const std::string& to) {
    model.node("QuantizeLinear", {from, "step", "zero"}, {to + "_q"});
    model.node("DequantizeLinear", {to + "_q", "step", "zero"}, {to});
  };
  const auto silu = [&](const std::string& from, const std::string& to) {
    round(from, from + "_rounded");
    model.node("Sigmoid", {from + "_rounded"}, {from + "_gate"});
    model.node("Mul", {from + "_rounded", from + "_gate"}, {from + "_silu"});
    round(from + "_silu", to);
  };
  round("x", "input");
  model.node("Conv", {"input", "w1"}, {"expanded"});
  silu("expanded", "middle");
  model.node("Conv", {"middle", "w2"}, {"filtered"},
             attributes({{"group", int64_t{144}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  silu("filtered", "result");
  model.node("MaxPool", {"result"}, {"y"}, attributes({{"kernel_shape", std::vector<int64_t>{2, 2}}}))
      .output("y");
  return model;
}

size_t count_expansions(const Graph& graph) {
  return static_cast<size_t>(std::ranges::count_if(
      graph.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::expand) != nullptr; }));
}

TEST(ExpandTable, ComputesTheSame) {
  const Graph graph = optimise(quantised_layers().graph(), {});
  Graph fused = graph;
  fuse(fused, gpu_named("NAVI31"), Precision::fp32);
  ASSERT_EQ(count_expansions(fused), 1u);
  EXPECT_EQ(fused.nodes.size(), 3u) << "the rounding of x, both layers, the pool";
  const std::vector<HostTensor> inputs{of_sixteenths({1, 24, 28, 28}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
}

TEST(ExpandTable, FewBuffers) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_storage_buffers_per_stage = 4;
  caps.prefers_images = false;
  Graph graph = optimise(quantised_layers().graph(), {});
  fuse(graph, caps, Precision::fp32);
  EXPECT_EQ(count_expansions(graph), 0u);
  check_operator(expand({.x = {1, 6, 7, 9}}), caps);
}

}  // namespace expand_table_test
}  // namespace vellum::test

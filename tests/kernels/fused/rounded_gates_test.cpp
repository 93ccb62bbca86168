// Squeeze-and-excitation with roundings and tables between its steps, against its host reference.
#include "kernels/fused/rounded_gates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "kernels/framework/value_grids.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace rounded_gates_test {

// Multiples of 1/16, so that sums are exact and all devices round them alike.
HostTensor in_sixteenths(Shape shape, uint32_t seed, float most = 1.5f) {
  HostTensor tensor = random_tensor(std::move(shape), seed, -most, most);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(16 * value) / 16;
  return tensor;
}

// Entries that no other number of the table has.
HostTensor distinct_entries(int factor) {
  std::vector<float> values;
  for (int i = 0; i < ByteTable::kEntries; ++i) values.push_back(static_cast<float>(i * factor % 256) / 64);
  return HostTensor::f32({ByteTable::kEntries}, values);
}

struct Block {
  Shape x;
  int64_t hidden = 6, gates = 0;  // 0: as many as x has channels
  bool biases = true, hidden_table = true, gate_table = true;
  Activation hidden_activation = {.step = 0.125f, .least = -100, .most = 130};
};

GateLayer layer(const Activation& activation, bool has_table) {
  auto conv = std::make_shared<Conv>();
  conv->activation = activation;
  auto table = std::make_shared<ByteTable>();
  table->x_step = activation.step;
  table->first = -120;
  table->y_step = 1.0f / 64;
  return {conv, has_table ? table : nullptr};
}

OperatorCase rounded_gates(const Block& block) {
  auto rounding = std::make_shared<Unary>();
  rounding->activation = {.step = 3.0f / 64, .least = -90, .most = 165};
  OperatorCase test{.type = "RoundedGates", .inputs = {}};
  const int64_t channels = block.x[1], gates = block.gates ? block.gates : channels;
  Shape w1(block.x.size(), 1), w2 = w1;
  w1[0] = w2[1] = block.hidden;
  w1[1] = channels, w2[0] = gates;
  test.inputs = {in_sixteenths(block.x, 1, 4.0f),
                 in_sixteenths(w1, 2),
                 in_sixteenths({block.hidden}, 3),
                 in_sixteenths(w2, 4),
                 in_sixteenths({gates}, 5),
                 distinct_entries(97),
                 distinct_entries(31)};
  if (!block.biases) test.inputs[2] = test.inputs[4] = std::nullopt;
  if (!block.hidden_table) test.inputs[5] = std::nullopt;
  if (!block.gate_table) test.inputs[6] = std::nullopt;
  while (!test.inputs.back()) test.inputs.pop_back();
  test.op = rounded_gates_nodes(rounding, layer(block.hidden_activation, block.hidden_table),
                                layer({.step = 0.25f, .least = -50, .most = 120}, block.gate_table));
  for (size_t i = 1; i < test.inputs.size(); ++i) test.constants.insert(i);
  test.sweep.fp16 = test.sweep.arithmetic_fp16 = false;  // halves of sums may be rounded to another step
  test.sweep.as_for_gpu = true;
  return test;
}

void check(const Block& block) {
  check_operator(rounded_gates(block));
  EXPECT_EQ(check_candidates(rounded_gates(block)).size(), 2u);
}

TEST(RoundedGates, OddShapes) {
  check({.x = {1, 20, 8, 4}});
  check({.x = {2, 5, 2, 4}, .hidden = 3, .gates = 7});
  check({.x = {1, 13, 16}, .hidden = 9});
}

TEST(RoundedGates, WithoutTablesAndBiases) {
  check({.x = {1, 12, 4, 4}, .hidden_table = false});
  check({.x = {1, 12, 4, 4}, .gate_table = false});
  check({.x = {1, 12, 4, 4}, .biases = false, .hidden_table = false, .gate_table = false});
}

TEST(RoundedGates, WithAFunctionBeforeTheRounding) {
  Block block{.x = {1, 12, 4, 4}};
  block.hidden_activation = {
      .kind = ActivationKind::leaky_relu, .alpha = 0.5f, .step = 0.25f, .least = -10, .most = 40};
  check(block);
}

// The means are a dispatch of their own.
TEST(RoundedGates, ManyPixels) { check({.x = {1, 70, 64, 64}, .hidden = 8}); }

// --- Where it is used ---

constexpr float kStep = 0.0625f;

// x times gates of its means, with each step rounded to 8 bits, then a convolution.
OnnxModel quantised_block(int64_t channels, bool is_rounded) {
  OnnxModel model;
  model.input("x", {1, channels, 4, 4})
      .initializer("w1", in_sixteenths({4, channels, 1, 1}, 2))
      .initializer("w2", in_sixteenths({channels, 4, 1, 1}, 3))
      .initializer("w3", in_sixteenths({6, channels, 1, 1}, 4))
      .initializer("step", HostTensor::f32({}, std::vector<float>{kStep}))
      .initializer("fine", HostTensor::f32({}, std::vector<float>{1.0f / 128}))
      .initializer("zero", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  const auto round = [&](const std::string& from, const std::string& to, const char* step = "step") {
    if (!is_rounded) return void(model.node("Identity", {from}, {to}));
    model.node("QuantizeLinear", {from, step, "zero"}, {to + "_q"});
    model.node("DequantizeLinear", {to + "_q", step, "zero"}, {to});
  };
  round("x", "input");
  model.node("GlobalAveragePool", {"input"}, {"means"});
  round("means", "rounded means");
  model.node("Conv", {"rounded means", "w1"}, {"c1"});
  round("c1", "rounded c1");
  model.node("Sigmoid", {"rounded c1"}, {"s1"}).node("Mul", {"rounded c1", "s1"}, {"hidden"});
  round("hidden", "rounded hidden");
  model.node("Conv", {"rounded hidden", "w2"}, {"c2"});
  round("c2", "rounded c2");
  model.node("Sigmoid", {"rounded c2"}, {"gates"});
  round("gates", "rounded gates", "fine");
  model.node("Mul", {"rounded gates", "input"}, {"product"});
  round("product", "rounded product");
  model.node("Conv", {"rounded product", "w3"}, {"y"}).output("y");
  return model;
}

size_t count_gates(const Graph& graph) {
  return static_cast<size_t>(std::ranges::count_if(
      graph.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::rounded_gates) != nullptr; }));
}

TEST(RoundedGates, ComputeTheSame) {
  const Graph graph = optimise(quantised_block(12, true).graph(), {});
  Graph fused = graph;
  fuse(fused, test_context()->caps(), Precision::fp32);
  ASSERT_EQ(count_gates(fused), 1u);
  EXPECT_EQ(fused.nodes.size(), 3u) << "the rounding of x, the gates, the convolution";
  const std::vector<HostTensor> inputs{in_sixteenths({1, 12, 4, 4}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  EXPECT_EQ(value_grids(fused)[fused.nodes[1].outputs[0]]->step, 1.0f / 128);
}

TEST(RoundedGates, OnlyOfRoundedMeansAndFewProducts) {
  Graph floats = optimise(quantised_block(12, false).graph(), {});
  fuse(floats, test_context()->caps(), Precision::fp32);
  EXPECT_EQ(count_gates(floats), 0u);
  Graph wide = optimise(quantised_block(2100, true).graph(), {});
  fuse(wide, test_context()->caps(), Precision::fp32);
  EXPECT_EQ(count_gates(wide), 0u) << "more channels than a workgroup holds";
}

// A device that binds four buffers computes the nodes one by one, unless its tensors are images.
TEST(RoundedGates, FewBuffers) {
  const OperatorCase test = rounded_gates({.x = {1, 20, 4, 4}});
  DeviceCaps caps = test_context()->caps();
  caps.max_storage_buffers_per_stage = 4;
  const auto shader_of_last = [&](StorageChoice storage) {
    return lower(single_node_graph(test), caps, {.storage = storage}).tasks.back().dispatch->shader;
  };
  EXPECT_EQ(shader_of_last(StorageChoice::buffer), "byte_table");
  check_operator(test, caps);
  Graph graph = optimise(quantised_block(12, true).graph(), {});
  caps.prefers_images = false;
  fuse(graph, caps, Precision::fp32);
  EXPECT_EQ(count_gates(graph), 0u);
}

}  // namespace rounded_gates_test
}  // namespace vellum::test

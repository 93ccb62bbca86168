// A max pool and the 1x1 convolution after it in one kernel, against the host references of the two.
#include "kernels/fused/pool.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_pool_test {

struct Layers {
  Shape x;
  int64_t filters = 8;
  int64_t kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  bool biases = true;
  bool residual = false;
};

OperatorCase pool_conv(const Layers& layers, bool ceil = false) {
  auto pool = std::make_shared<Pool>();
  pool->window.kernel = {layers.kernel, layers.kernel};
  pool->window.strides = {layers.stride, layers.stride};
  pool->window.pads = layers.pads;
  pool->window.ceil_mode = ceil;
  auto pointwise = std::make_shared<Conv>();
  pointwise->activation.kind = ActivationKind::relu;
  OperatorCase test{.type = "PoolConv", .inputs = {}};
  // All below zero: the padding must not count.
  test.inputs = {random_tensor(layers.x, 1, -2.0f, -1.0f),
                 random_tensor({layers.filters, layers.x[1], 1, 1}, 4, -0.3f, 0.3f),
                 random_tensor({layers.filters}, 5)};
  if (!layers.biases) test.inputs[2] = std::nullopt;
  test.op = pool_nodes(pool, pointwise);
  if (layers.residual) {
    const Graph graph = single_node_graph(test);
    Shape y = infer(graph, graph.nodes[0])[0].shape;
    test.inputs.push_back(random_tensor(std::move(y), 6));
  }
  test.constants = {1, 2};
  test.sweep.linear_inputs = false;
  return test;
}

bool takes_one_kernel(const OperatorCase& test, const DeviceCaps& caps) {
  std::vector<Choice> choices;
  lower(single_node_graph(test), caps, {.choices = &choices});
  return candidate_names(choices.at(0)).front().starts_with("separable");
}

TEST(FusedPool, WindowsAndChannels) {
  for (const OperatorCase& test :
       {pool_conv({.x = {2, 6, 13, 14}, .stride = 2, .pads = {0, 0, 0, 0}}, false),
        pool_conv({.x = {2, 6, 13, 14}, .stride = 2, .pads = {0, 0, 0, 0}}, true),
        pool_conv({.x = {1, 9, 9, 11}, .filters = 5, .stride = 2, .residual = true}, true),
        pool_conv({.x = {1, 7, 8, 13}, .filters = 13, .kernel = 5, .pads = {2, 2, 2, 2}}, false)}) {
    EXPECT_TRUE(takes_one_kernel(test, gpu_named("NAVI31")));
    check_operator(test, gpu_named("NAVI31"));
  }
  check_operator(pool_conv({.x = {1, 5, 1, 6}, .biases = false}), gpu_named("NAVI31"));
}

TEST(FusedPool, EveryCandidate) {
  for (const char* name : {"NAVI31", "RTX 3090"})
    for (const char* kernel : {"separable", "layers apart"})
      check_candidates(pool_conv({.x = {1, 36, 30, 29}, .filters = 22, .stride = 2}),
                       {.only = kernel, .caps = gpu_named(name)});
}

// --- Where it is used ---

OnnxModel pool_and_product() {
  OnnxModel model;
  model.input("x", {1, 32, 29, 29})
      .initializer("w", random_tensor({16, 32, 1, 1}, 1))
      .node(
          "MaxPool", {"x"}, {"pooled"},
          attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}, {"strides", std::vector<int64_t>{2, 2}}}),
          "pool")
      .node("Conv", {"pooled", "w"}, {"y"}, {}, "product")
      .output("y");
  return model;
}

std::ptrdiff_t fused_nodes(const Graph& graph) {
  return std::ranges::count_if(
      graph.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::pool) != nullptr; });
}

TEST(FusedPool, OnAGpuAndWithoutAnotherReader) {
  const Graph graph = optimise(pool_and_product().graph(), {});
  Graph fused = graph;
  fuse(fused, large_gpu(16), Precision::fp32);
  ASSERT_EQ(fused_nodes(fused), 1);
  const std::vector<HostTensor> inputs{random_tensor({1, 32, 29, 29}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  DeviceCaps cpu = large_gpu(16);
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(fused_nodes(compile(graph, cpu, {}).graph), 0);
  OnnxModel reader = pool_and_product();
  reader.output("pooled");
  EXPECT_EQ(fused_nodes(compile(reader.graph(), large_gpu(16), {}).graph), 0);
}

}  // namespace fused_pool_test
}  // namespace vellum::test

// 1x1 convolutions that store means alone, against their host references.
#include "kernels/fused/mean.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_mean_test {

struct Product {
  Shape x;
  int64_t filters = 8;
  bool bias = true, residual = false, scale = false;
  Activation activation = {.kind = ActivationKind::relu};
};

OperatorCase conv_mean(const Product& product) {
  auto conv = std::make_shared<Conv>();
  conv->activation = product.activation;
  OperatorCase test{.type = "ConvMean", .inputs = {}};
  Shape y = product.x, scale(product.x.size(), 1);
  y[1] = product.filters;
  scale[1] = product.x[1];
  test.inputs = {random_tensor(product.x, 1),
                 random_tensor({product.filters, product.x[1], 1, 1}, 2, -0.3f, 0.3f),
                 random_tensor({product.filters}, 3), random_tensor(y, 4), random_tensor(scale, 5)};
  if (!product.bias) test.inputs[2] = std::nullopt;
  if (!product.residual) test.inputs[3] = std::nullopt;
  if (!product.scale) test.inputs[4] = std::nullopt;
  while (!test.inputs.back()) test.inputs.pop_back();
  test.op = mean_nodes(conv);
  test.constants = {1, 2};
  test.sweep.linear_inputs = false;
  return test;
}

bool takes(const Product& product, const DeviceCaps& caps) {
  const OperatorCase test = conv_mean(product);
  const Graph graph = single_node_graph(test);
  return gains_by_mean(dynamic_cast<const FusedNodes&>(*test.op), operator_inputs(graph, graph.nodes[0]),
                       caps, Precision::fp32);
}

void check(const Product& product, const char* gpu = "NAVI31") {
  ASSERT_TRUE(takes(product, gpu_named(gpu)));
  check_operator(conv_mean(product), gpu_named(gpu));
}

TEST(FusedMean, OddShapesAndChannels) {
  for (const char* gpu : {"NAVI31", "RTX 3090"}) {
    check({.x = {1, 5, 7, 7}, .filters = 6}, gpu);
    check({.x = {1, 9, 1, 1}, .filters = 3, .bias = false}, gpu);
    check({.x = {1, 13, 13, 13}, .filters = 17}, gpu);
    check({.x = {1, 6, 3, 70}, .filters = 9, .activation = {}}, gpu);
  }
}

// Few pixels and many channels: the invocations of a workgroup share sums.
TEST(FusedMean, SharedSums) { check({.x = {1, 260, 7, 7}, .filters = 34}); }

TEST(FusedMean, ResidualsAndScales) {
  check({.x = {1, 10, 7, 6}, .filters = 10, .residual = true});
  check({.x = {1, 10, 9, 9}, .filters = 7, .scale = true});
  // An activation that maps zero to another value.
  check({.x = {1, 6, 5, 5},
         .filters = 5,
         .activation = {.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3}});
}

// A workgroup of Adreno's is one subgroup; without such a tile nothing is merged.
TEST(FusedMean, OnAdreno) {
  int taken = 0;
  for (const char* name : kAdrenos) {
    const DeviceCaps caps = adreno_named(name);
    for (const Product& product :
         {Product{.x = {1, 36, 7, 7}, .filters = 700}, Product{.x = {1, 22, 13, 13}, .filters = 250},
          Product{.x = {1, 130, 7, 6}, .filters = 300, .residual = true},
          Product{.x = {1, 20, 5, 5}, .filters = 700, .scale = true}}) {
      if (!takes(product, caps)) continue;
      ++taken;
      check_operator(conv_mean(product), caps);
    }
    EXPECT_FALSE(takes({.x = {1, 8, 30, 30}}, caps));
  }
  EXPECT_GE(taken, 6);
}

TEST(FusedMean, IsForGpusAndOneImageOfAWorkgroup) {
  DeviceCaps gpu = gpu_named("NAVI31"), cpu = gpu;
  cpu.type = DeviceType::cpu;
  EXPECT_TRUE(takes({.x = {1, 8, 7, 7}}, gpu));
  EXPECT_FALSE(takes({.x = {1, 8, 7, 7}}, cpu));
  EXPECT_FALSE(takes({.x = {2, 8, 7, 7}}, gpu));
  EXPECT_FALSE(takes({.x = {1, 8, 60, 60}}, gpu)) << "too many pixels";
  gpu.max_storage_buffers_per_stage = 3;
  EXPECT_FALSE(takes({.x = {1, 8, 7, 7}, .residual = true}, gpu));
}

// --- Where it is used ---

TEST(FusedMean, ComputesTheSame) {
  OnnxModel model;
  model.input("x", {1, 24, 7, 7})
      .initializer("w", random_tensor({40, 24, 1, 1}, 1))
      .node("Conv", {"x", "w"}, {"pixels"}, {}, "product")
      .node("GlobalAveragePool", {"pixels"}, {"y"}, {}, "mean")
      .output("y");
  const Graph graph = optimise(model.graph(), {});
  Graph fused = graph;
  fuse(fused, large_gpu(16), Precision::fp32);
  ASSERT_EQ(fused.nodes.size(), 1u);
  EXPECT_NE(as_fused(fused.nodes[0], FusedKernelId::mean), nullptr);
  const std::vector<HostTensor> inputs{random_tensor({1, 24, 7, 7}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  const WrongKernels wrong{{"conv_pointwise", {.why = "it is wrong", .fused = FusedKernelId::mean}}};
  Graph apart = graph;
  fuse(apart, large_gpu(16), Precision::fp32, &wrong);
  EXPECT_EQ(apart.nodes.size(), graph.nodes.size());
}

}  // namespace fused_mean_test
}  // namespace vellum::test

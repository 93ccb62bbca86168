// 1x1 convolutions that store means alone, and convolutions that read planes, against their host references.
#include "graph/operators/conv/conv_mean.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/conv/conv_mean.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

struct Product {
  Shape x;
  int64_t filters = 8;
  bool bias = true, residual = false, scale = false;
  Activation activation = {.kind = ActivationKind::relu};
};

OperatorCase conv_mean(const Product& product) {
  auto op = std::make_shared<ConvMean>();
  op->conv.activation = product.activation;
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
  test.op = op;
  test.constants = {1, 2};
  test.sweep.linear_inputs = false;
  return test;
}

bool takes(const Product& product, const DeviceCaps& caps) {
  const OperatorCase test = conv_mean(product);
  const Graph graph = single_node_graph(test);
  return takes_mean(dynamic_cast<const ConvMean&>(*test.op), operator_inputs(graph, graph.nodes[0]), caps,
                    Precision::fp32);
}

void check(const Product& product, const char* gpu = "NAVI31") {
  ASSERT_TRUE(takes(product, gpu_named(gpu)));
  check_operator(conv_mean(product), gpu_named(gpu));
}

TEST(ConvMean, OddShapesAndChannels) {
  for (const char* gpu : {"NAVI31", "RTX 3090"}) {
    check({.x = {1, 5, 7, 7}, .filters = 6}, gpu);
    check({.x = {1, 9, 1, 1}, .filters = 3, .bias = false}, gpu);
    check({.x = {1, 13, 13, 13}, .filters = 17}, gpu);
    check({.x = {1, 6, 3, 70}, .filters = 9, .activation = {}}, gpu);
  }
}

// Few pixels and many channels: the invocations of a workgroup share sums.
TEST(ConvMean, SharedSums) { check({.x = {1, 260, 7, 7}, .filters = 34}); }

TEST(ConvMean, ResidualsAndScales) {
  check({.x = {1, 10, 7, 6}, .filters = 10, .residual = true});
  check({.x = {1, 10, 9, 9}, .filters = 7, .scale = true});
  // An activation that maps zero to another value.
  check({.x = {1, 6, 5, 5},
         .filters = 5,
         .activation = {.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3}});
}

// A workgroup of Adreno's is one subgroup; without such a tile nothing is merged.
TEST(ConvMean, OnAdreno) {
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

TEST(ConvMean, IsForGpusAndOneImageOfAWorkgroup) {
  DeviceCaps gpu = gpu_named("NAVI31"), cpu = gpu;
  cpu.type = DeviceType::cpu;
  EXPECT_TRUE(takes({.x = {1, 8, 7, 7}}, gpu));
  EXPECT_FALSE(takes({.x = {1, 8, 7, 7}}, cpu));
  EXPECT_FALSE(takes({.x = {2, 8, 7, 7}}, gpu));
  EXPECT_FALSE(takes({.x = {1, 8, 60, 60}}, gpu)) << "too many pixels";
  gpu.max_storage_buffers_per_stage = 3;
  EXPECT_FALSE(takes({.x = {1, 8, 7, 7}, .residual = true}, gpu));
}

OperatorCase first_layer(const Shape& x, int64_t filters, int64_t kernel, int64_t stride) {
  OperatorCase test;
  test.type = "Conv";
  const int64_t pad = kernel / 2;
  test.attributes.set("strides", std::vector<int64_t>{stride, stride});
  test.attributes.set("pads", std::vector<int64_t>{pad, pad, pad, pad});
  test.inputs = {random_tensor(x, 1), random_tensor({filters, x[1], kernel, kernel}, 2),
                 random_tensor({filters}, 3)};
  test.constants = {1, 2};
  return test;
}

TEST(ConvPlanes, OfOneToThreeChannels) {
  for (const int64_t channels : {1, 2, 3})
    for (const int64_t kernel : {3, 5})
      check_operator(first_layer({2, channels, 9, 13}, 10, kernel, 2), gpu_named("NAVI31"));
  check_operator(first_layer({1, 3, 20, 19}, 8, 7, 2), gpu_named("NAVI31"));
  check_operator(first_layer({1, 3, 8, 8}, 5, 3, 1), gpu_named("RTX 3090"));
  for (const char* name : kAdrenos)
    for (const int64_t kernel : {3, 7})
      check_operator(first_layer({1, 3, 22, 21}, 10, kernel, 2), adreno_named(name));
}

// The kernel reads the input as it is, and no conversion is left.
TEST(ConvPlanes, AreNotConverted) {
  const auto shaders = [](const OperatorCase& test, const DeviceCaps& caps) {
    std::vector<std::string> names;
    for (const Task& task : lower(single_node_graph(test), caps, {}).tasks)
      names.push_back(task.dispatch->shader);
    return names;
  };
  const auto converts = [&](const OperatorCase& test, const DeviceCaps& caps) {
    return std::ranges::count(shaders(test, caps), "to_channels4") > 0;
  };
  EXPECT_FALSE(converts(first_layer({1, 3, 20, 19}, 8, 3, 2), gpu_named("NAVI31")));
  EXPECT_TRUE(converts(first_layer({1, 4, 20, 19}, 8, 3, 2), gpu_named("NAVI31")));
  DeviceCaps cpu = test_context()->caps();
  cpu.type = DeviceType::cpu;
  EXPECT_TRUE(converts(first_layer({1, 3, 20, 19}, 8, 3, 2), cpu));
}

}  // namespace
}  // namespace vellum::test

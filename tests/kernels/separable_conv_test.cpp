// Depthwise separable convolutions in one kernel, against the host references of the two layers.
#include "graph/operators/conv/separable_conv.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "graph/operators/conv/pool_conv.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

struct Layers {
  Shape x;
  int64_t filters = 8;
  int64_t kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  int64_t stride_y = 0;  // if it is another
  bool biases = true;
  bool residual = false;
  Activation middle = {.kind = ActivationKind::relu};
};

OperatorCase separable(const Layers& layers) {
  const int64_t channels = layers.x[1];
  auto op = std::make_shared<SeparableConv>();
  op->depthwise.group = channels;
  op->depthwise.window.strides = {layers.stride_y ? layers.stride_y : layers.stride, layers.stride};
  op->depthwise.window.pads = layers.pads;
  op->depthwise.activation = layers.middle;
  OperatorCase test{.type = "SeparableConv", .inputs = {}};
  test.inputs = {
      random_tensor(layers.x, 1), random_tensor({channels, 1, layers.kernel, layers.kernel}, 2, -0.5f, 0.5f),
      random_tensor({channels}, 3), random_tensor({layers.filters, channels, 1, 1}, 4, -0.3f, 0.3f),
      random_tensor({layers.filters}, 5)};
  if (!layers.biases) test.inputs[2] = test.inputs[4] = std::nullopt;
  test.op = op;
  if (layers.residual) {
    const Graph graph = single_node_graph(test);
    Shape y = infer(graph, graph.nodes[0])[0].shape;
    test.inputs.push_back(random_tensor(std::move(y), 6));
  }
  test.constants = {1, 2, 3, 4};
  test.sweep.linear_inputs = false;
  return test;
}

// The candidates of the operator on such a device, the least predicted cost first.
std::vector<std::string> candidates_on(const OperatorCase& test, const DeviceCaps& caps,
                                       Precision precision = Precision::fp32) {
  std::vector<Choice> choices;
  lower(single_node_graph(test), caps, {.precision = precision, .choices = &choices});
  return candidate_names(choices.at(0));
}

bool takes_one_kernel(const OperatorCase& test, const DeviceCaps& caps) {
  return candidates_on(test, caps).front().starts_with("separable");
}

// In one storage; the sweeps below run in all of them.
void check_one_kernel(const Layers& layers) {
  const OperatorCase test = separable(layers);
  const DeviceCaps caps = gpu_named("NAVI31");
  // With a residual the kernel binds five buffers, and devices promise four.
  const bool has_buffers = !layers.residual || caps.max_storage_buffers_per_stage >= 5;
  EXPECT_EQ(takes_one_kernel(test, caps), has_buffers) << candidates_on(test, caps).front();
  if (!has_buffers) return;
  check_candidates(test, {.only = "separable", .caps = caps});
}

TEST(SeparableConv, StridesAndUnevenPadding) {
  check_one_kernel({.x = {2, 6, 7, 9}, .pads = {2, 0, 1, 2}});
  check_one_kernel({.x = {1, 9, 9, 11}, .filters = 5, .stride = 2});
  check_one_kernel({.x = {1, 7, 8, 13}, .filters = 13, .kernel = 5, .pads = {2, 2, 2, 2}});
  check_one_kernel({.x = {1, 8, 9, 7}, .stride = 2, .pads = {0, 0, 0, 0}, .stride_y = 1});
  check_operator(separable({.x = {2, 5, 9, 9}, .filters = 3, .kernel = 5, .stride = 2, .pads = {1, 2, 2, 1}}),
                 gpu_named("NAVI31"));
}

TEST(SeparableConv, ImagesSmallerThanATileOrTheWindow) {
  for (const Shape& x : {Shape{2, 5, 1, 1}, Shape{1, 4, 1, 6}, Shape{1, 6, 6, 1}, Shape{1, 3, 2, 3}})
    check_one_kernel({.x = x, .filters = 6});
  check_one_kernel({.x = {1, 9, 2, 3}, .kernel = 5, .stride = 2, .pads = {2, 2, 2, 2}});
}

TEST(SeparableConv, ResidualsAndActivations) {
  OperatorCase test = separable({.x = {1, 10, 7, 6}, .filters = 10, .residual = true});
  test.activation = {.kind = ActivationKind::relu};
  check_operator(test, gpu_named("NAVI31"));
  check_one_kernel({.x = {2, 6, 5, 9}, .filters = 7, .biases = false, .residual = true, .middle = {}});
  // It maps zero to another value: unused channels of the last slice must not reach the products.
  const Activation scaled{.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3};
  test = separable({.x = {1, 5, 6, 6}, .filters = 9, .middle = scaled});
  test.activation = {.kind = ActivationKind::hard_swish};
  check_operator(test, gpu_named("NAVI31"));
}

// The depthwise convolution reads what is added: in place, later pixels would read results.
TEST(SeparableConv, AddsItsOwnInput) {
  OperatorCase test = separable({.x = {1, 12, 9, 8}, .filters = 12});
  test.inputs.emplace_back(std::nullopt);
  test.same_as = {{5, 0}};
  check_operator(test, gpu_named("NAVI31"));
}

// Few pixels and many channels: the invocations of a workgroup share sums, and shared memory is nearly full.
TEST(SeparableConv, ManyChannels) {
  const OperatorCase test = separable({.x = {1, 260, 5, 5}, .filters = 70});
  EXPECT_NE(candidates_on(test, gpu_named("NAVI31")).front().find("split-K"), std::string::npos);
  check_operator(test, gpu_named("NAVI31"));
}

// Every tile that a GPU may get, among them those of two slices and of eight pixels.
TEST(SeparableConv, EveryCandidate) {
  for (const char* name : {"NAVI31", "Adreno (TM) 618"})
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      check_candidates(separable({.x = {1, 36, 30, 29}, .filters = 22, .residual = true}),
                       {.precision = precision, .only = "separable", .caps = gpu_named(name)});
    }
}

TEST(SeparableConv, EveryCandidateOnAdreno) {
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      check_candidates(separable({.x = {1, 44, 14, 13}, .filters = 70, .residual = true}),
                       {.precision = precision,
                        .storage = storage,
                        .only = "separable",
                        .caps = adreno_named(kAdrenos[0])});
}

TEST(SeparableConv, LayersApart) {
  DeviceCaps cpu = test_context()->caps();
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(candidates_on(separable({.x = {1, 8, 9, 9}}), cpu).front(), "layers apart");
  check_operator(separable({.x = {2, 10, 7, 9}, .filters = 13, .stride = 2, .residual = true}), cpu);
  check_candidates(separable({.x = {1, 10, 7, 9}, .filters = 13}),
                   {.storage = StorageChoice::image2d, .only = "layers apart", .caps = gpu_named("NAVI31")});
}

OperatorCase pool_conv(const Layers& layers, bool ceil = false) {
  auto op = std::make_shared<PoolConv>();
  op->pool.window.kernel = {layers.kernel, layers.kernel};
  op->pool.window.strides = {layers.stride_y ? layers.stride_y : layers.stride, layers.stride};
  op->pool.window.pads = layers.pads;
  op->pool.window.ceil_mode = ceil;
  op->pointwise.activation = layers.middle;
  OperatorCase test{.type = "PoolConv", .inputs = {}};
  // All below zero: the padding must not count.
  test.inputs = {random_tensor(layers.x, 1, -2.0f, -1.0f),
                 random_tensor({layers.filters, layers.x[1], 1, 1}, 4, -0.3f, 0.3f),
                 random_tensor({layers.filters}, 5)};
  if (!layers.biases) test.inputs[2] = std::nullopt;
  test.op = op;
  if (layers.residual) {
    const Graph graph = single_node_graph(test);
    Shape y = infer(graph, graph.nodes[0])[0].shape;
    test.inputs.push_back(random_tensor(std::move(y), 6));
  }
  test.constants = {1, 2};
  test.sweep.linear_inputs = false;
  return test;
}

TEST(PoolConv, WindowsAndChannels) {
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

TEST(PoolConv, EveryCandidate) {
  for (const char* name : {"NAVI31", "RTX 3090"})
    for (const char* kernel : {"separable", "layers apart"})
      check_candidates(pool_conv({.x = {1, 36, 30, 29}, .filters = 22, .stride = 2}),
                       {.only = kernel, .caps = gpu_named(name)});
}

TEST(SeparableConv, StaysWithinTheBuffersOfADevice) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_storage_buffers_per_stage = 4;
  const OperatorCase test = separable({.x = {1, 10, 7, 6}, .filters = 10, .residual = true});
  EXPECT_EQ(candidates_on(test, caps), std::vector<std::string>{"layers apart"});
  EXPECT_TRUE(takes_one_kernel(separable({.x = {1, 10, 7, 6}, .filters = 10}), caps));
}

TEST(SeparableConv, SharedMemoryWithinTheDevice) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_shared_memory_bytes = 16 << 10;
  check_candidates(separable({.x = {1, 400, 9, 9}, .filters = 24}), {.only = "separable", .caps = caps});
  // 16 KiB hold eight pixels of 512 channels in fp32.
  EXPECT_EQ(candidates_on(separable({.x = {1, 1200, 9, 9}}), caps), std::vector<std::string>{"layers apart"});
}

}  // namespace
}  // namespace vellum::test

// A 1x1 convolution, the depthwise convolution after it and its squeeze-and-excitation in one kernel, against
// the host references of all.
#include "graph/operators/conv/expand_conv.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

struct Layers {
  Shape x;
  int64_t channels = 8;  // of the depthwise convolution
  int64_t kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  int64_t stride_y = 0;  // if it is another
  bool biases = true;
  int64_t hidden = 0;  // channels of squeeze-and-excitation, if it has one
  Activation middle = {.kind = ActivationKind::silu};
  Activation last = {};
};

OperatorCase expand(const Layers& layers) {
  const int64_t channels = layers.channels;
  auto op = std::make_shared<ExpandConv>();
  op->pointwise.activation = layers.middle;
  op->depthwise.group = channels;
  op->depthwise.window.strides = {layers.stride_y ? layers.stride_y : layers.stride, layers.stride};
  op->depthwise.window.pads = layers.pads;
  op->depthwise.activation = layers.last;
  OperatorCase test{.type = "ExpandConv", .inputs = {}};
  test.inputs = {random_tensor(layers.x, 1), random_tensor({channels, layers.x[1], 1, 1}, 2, -0.3f, 0.3f),
                 random_tensor({channels}, 3),
                 random_tensor({channels, 1, layers.kernel, layers.kernel}, 4, -0.5f, 0.5f),
                 random_tensor({channels}, 5)};
  test.constants = {1, 2, 3, 4};
  if (layers.hidden > 0) {
    op->squeeze.emplace();
    op->squeeze->hidden.kind = ActivationKind::relu;
    op->squeeze->gate.kind = ActivationKind::sigmoid;
    for (const HostTensor& tensor :
         {random_tensor({layers.hidden, channels, 1, 1}, 6), random_tensor({layers.hidden}, 7),
          random_tensor({channels, layers.hidden, 1, 1}, 8), random_tensor({channels}, 9)})
      test.inputs.emplace_back(tensor);
    test.constants = {1, 2, 3, 4, 5, 6, 7, 8};
  }
  if (!layers.biases)
    for (size_t bias = 2; bias < test.inputs.size(); bias += 2) test.inputs[bias] = std::nullopt;
  test.op = op;
  test.sweep.linear_inputs = false;
  return test;
}

std::vector<std::string> candidates_on(const OperatorCase& test, const DeviceCaps& caps) {
  std::vector<Choice> choices;
  lower(single_node_graph(test), caps, {.choices = &choices});
  return candidate_names(choices.at(0));
}

std::vector<Dispatch> dispatches_on(const OperatorCase& test, const DeviceCaps& caps) {
  const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
  std::vector<Dispatch> dispatches;
  for (const Task& task : program.tasks)
    if (task.dispatch) dispatches.push_back(*task.dispatch);
  return dispatches;
}

bool has(const Dispatch& dispatch, const std::string& macro) {
  return std::ranges::any_of(dispatch.defines, [&](const auto& define) { return define.first == macro; });
}

bool computes_gates(const OperatorCase& test, const DeviceCaps& caps) {
  return std::ranges::any_of(dispatches_on(test, caps),
                             [](const Dispatch& dispatch) { return has(dispatch, "GATES"); });
}

// x, two weights, y and the means.
bool has_buffers_for_means(const DeviceCaps& caps) { return caps.max_storage_buffers_per_stage >= 5; }

void check(const Layers& layers, const DeviceCaps& caps = gpu_named("NAVI31")) {
  const OperatorCase test = expand(layers);
  const bool one_kernel = layers.hidden == 0 || has_buffers_for_means(caps);
  EXPECT_EQ(candidates_on(test, caps).front().starts_with("expand"), one_kernel)
      << candidates_on(test, caps).front();
  check_operator(test, caps);
}

TEST(ExpandConv, StridesAndUnevenPadding) {
  check({.x = {2, 6, 7, 9}, .pads = {2, 0, 1, 2}});
  check({.x = {1, 9, 9, 11}, .channels = 5, .stride = 2});
  check({.x = {1, 7, 8, 13}, .channels = 13, .kernel = 5, .pads = {2, 2, 2, 2}});
  check({.x = {1, 8, 9, 7}, .stride = 2, .pads = {0, 0, 0, 0}, .stride_y = 1});
  check({.x = {2, 5, 9, 9}, .channels = 3, .kernel = 5, .stride = 2, .pads = {1, 2, 2, 1}, .biases = false});
}

TEST(ExpandConv, ImagesSmallerThanTheWindow) {
  for (const Shape& x : {Shape{2, 5, 1, 1}, Shape{1, 4, 1, 6}, Shape{1, 6, 6, 1}})
    check({.x = x, .channels = 6});
  check({.x = {1, 9, 2, 3}, .kernel = 5, .stride = 2, .pads = {2, 2, 2, 2}});
}

// The activation between the layers maps zero to another value, which the padding is not.
TEST(ExpandConv, ShiftedActivations) {
  const Activation scaled{.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3};
  check({.x = {1, 5, 6, 6}, .channels = 9, .middle = scaled, .last = {.kind = ActivationKind::hard_swish}});
  check({.x = {1, 5, 6, 6}, .channels = 10, .hidden = 3, .last = scaled});
}

// Images of several tiles, whose windows cover pixels of their neighbours.
TEST(ExpandConv, SeveralTiles) {
  const Layers layers{.x = {1, 12, 61, 67}, .channels = 18, .kernel = 5, .pads = {2, 2, 2, 2}, .hidden = 5};
  const std::vector<Dispatch> dispatches = dispatches_on(expand(layers), gpu_named("NAVI31"));
  EXPECT_EQ(std::ranges::any_of(dispatches,
                                [](const Dispatch& dispatch) {
                                  return dispatch.shader == "conv_expand" && dispatch.workgroup_count[0] > 1;
                                }),
            has_buffers_for_means(gpu_named("NAVI31")));
  check(layers);
  check({.x = {2, 8, 40, 35}, .channels = 12, .stride = 2});
}

// Every tile that a GPU may get, among them those of two slices and of four pixels.
TEST(ExpandConv, EveryCandidate) {
  for (const char* name : {"NAVI31", "RENOIR", "MTL"})
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      for (const int64_t hidden : {0, 6})
        check_candidates(expand({.x = {1, 22, 30, 29}, .channels = 36, .hidden = hidden}),
                         {.precision = precision, .only = "expand", .caps = gpu_named(name)});
}

// The last workgroup of each image computes its gates, in each run again.
TEST(ExpandConv, GatesOfSeveralImages) {
  DeviceCaps caps = gpu_named("NAVI31");
  if (caps.max_storage_buffers_per_stage < 9) GTEST_SKIP() << "few buffers";
  const Layers layers{.x = {3, 8, 14, 14}, .channels = 70, .hidden = 9};
  EXPECT_TRUE(computes_gates(expand(layers), caps));
  // Three more convert x, y and the gates.
  EXPECT_EQ(dispatches_on(expand(layers), caps).size(), 5u) << "the counters and the kernel";
  check(layers, caps);
  check_operator(expand({.x = {2, 8, 7, 7}, .channels = 200, .hidden = 40}), caps);
  caps.max_storage_buffers_per_stage = 8;
  EXPECT_FALSE(computes_gates(expand(layers), caps));
  check(layers, caps);
}

// Adreno's workgroups are small, or hold few values of each invocation, and load the weights of gates
// together.
TEST(ExpandConv, OnAdreno) {
  for (const char* name : kAdrenos)
    check_operator(expand({.x = {1, 13, 22, 19}, .channels = 22, .stride = 2, .biases = false}),
                   adreno_named(name));
  const DeviceCaps caps = adreno_named(kAdrenos[0]);
  check_operator(
      expand({.x = {2, 8, 14, 14}, .channels = 70, .kernel = 5, .pads = {2, 2, 2, 2}, .hidden = 9}), caps);
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      check_candidates(
          expand({.x = {1, 30, 17, 29}, .channels = 36, .hidden = storage == StorageChoice::buffer ? 6 : 0}),
          {.precision = precision, .storage = storage, .only = "expand", .caps = caps});
  if (caps.max_storage_buffers_per_stage < 9) return;
  EXPECT_TRUE(computes_gates(expand({.x = {1, 16, 14, 14}, .channels = 70, .hidden = 9}), caps));
}

TEST(ExpandConv, LayersApart) {
  DeviceCaps cpu = test_context()->caps();
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(candidates_on(expand({.x = {1, 8, 9, 9}}), cpu).front(), "layers apart");
  check_operator(expand({.x = {2, 10, 7, 9}, .channels = 13, .stride = 2}), cpu);
  for (const int64_t hidden : {0, 3})
    check_candidates(
        expand({.x = {1, 10, 14, 14}, .channels = 13, .hidden = hidden}),
        {.storage = StorageChoice::image2d, .only = "layers apart", .caps = gpu_named("NAVI31")});
}

TEST(ExpandConv, SharedMemoryWithinTheDevice) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_shared_memory_bytes = 16 << 10;
  check_candidates(expand({.x = {1, 8, 40, 40}, .channels = 24}), {.only = "expand", .caps = caps});
}

}  // namespace
}  // namespace vellum::test

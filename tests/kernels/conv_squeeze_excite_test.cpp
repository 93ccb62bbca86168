// Depthwise convolutions that take the means for squeeze-and-excitation, against the references of both.
#include "graph/operators/conv/conv_squeeze_excite.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "kernels/conv/conv_squeeze_excite.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

struct Layers {
  Shape x;
  int64_t hidden = 3, kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  bool biases = true;
  Activation activation = {.kind = ActivationKind::silu};
};

OperatorCase conv_squeeze_excite(const Layers& layers) {
  const int64_t channels = layers.x[1], hidden = layers.hidden;
  auto op = std::make_shared<ConvSqueezeExcite>();
  op->conv.group = channels;
  op->conv.window.strides = {layers.stride, layers.stride};
  op->conv.window.pads = layers.pads;
  op->conv.activation = layers.activation;
  op->squeeze.hidden.kind = ActivationKind::relu;
  op->squeeze.gate.kind = ActivationKind::sigmoid;
  OperatorCase test{.type = "ConvSqueezeExcite", .inputs = {}};
  test.inputs = {random_tensor(layers.x, 1),
                 random_tensor({channels, 1, layers.kernel, layers.kernel}, 2, -0.5f, 0.5f),
                 random_tensor({channels}, 3),
                 random_tensor({hidden, channels, 1, 1}, 4),
                 random_tensor({hidden}, 5),
                 random_tensor({channels, hidden, 1, 1}, 6),
                 random_tensor({channels}, 7)};
  if (!layers.biases) test.inputs[2] = test.inputs[4] = test.inputs[6] = std::nullopt;
  test.op = op;
  test.constants = {1, 2, 3, 4, 5, 6};
  test.sweep.linear_inputs = false;
  return test;
}

Dispatch convolution_of(const OperatorCase& test, const DeviceCaps& caps) {
  const Program program = lower(single_node_graph(test), caps, {.storage = StorageChoice::buffer});
  for (const Task& task : program.tasks)
    if (task.dispatch && task.dispatch->shader == "conv_depthwise_tile") return *task.dispatch;
  ADD_FAILURE() << "no convolution that takes means";
  return {};
}

void check(const Layers& layers, const char* gpu = "NAVI31") {
  const OperatorCase test = conv_squeeze_excite(layers);
  const Dispatch dispatch = convolution_of(test, gpu_named(gpu));
  EXPECT_EQ(std::ranges::count(dispatch.defines, std::pair<std::string, std::string>{"MEANS", "1"}), 1);
  check_operator(test, gpu_named(gpu));
}

TEST(ConvSqueezeExcite, OddShapesAndChannels) {
  check({.x = {2, 6, 7, 9}});
  check({.x = {1, 9, 9, 11}, .stride = 2});
  check({.x = {1, 13, 8, 13}, .hidden = 5, .kernel = 5, .pads = {2, 2, 2, 2}});
  check({.x = {3, 5, 1, 1}, .hidden = 1});
  check({.x = {1, 5, 3, 2}, .pads = {2, 0, 1, 2}, .biases = false, .activation = {}});
}

// Tiles of several pixels overlap at the ends of rows and columns: no pixel counts twice. Workgroups beyond
// the first, the last of which is not full.
TEST(ConvSqueezeExcite, SeveralWorkgroupsOfASlice) {
  for (const char* gpu : {"NAVI31", "Adreno (TM) 618"}) {
    const Layers layers{.x = {2, 6, 39, 41}, .kernel = 5, .pads = {2, 2, 2, 2}};
    EXPECT_GT(convolution_of(conv_squeeze_excite(layers), gpu_named(gpu)).workgroup_count[0], 1u);
    check(layers, gpu);
  }
}

// An activation that maps zero to another value: unused channels of the last slice must not reach the
// products.
TEST(ConvSqueezeExcite, ShiftedActivations) {
  check({.x = {1, 6, 9, 8},
         .activation = {.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3}});
}

// The weights of several slices are loaded together for the gates, as long as there are as many.
TEST(ConvSqueezeExcite, GatesOnAdreno) {
  for (const char* name : {kAdrenos[0], kAdrenos[1]})
    for (const Layers& layers :
         {Layers{.x = {1, 6, 16, 17}}, Layers{.x = {2, 70, 9, 8}, .hidden = 13},
          Layers{.x = {1, 290, 8, 8}, .hidden = 34, .kernel = 5, .pads = {2, 2, 2, 2}}})
      check_operator(conv_squeeze_excite(layers), adreno_named(name));
  if (test_context()->caps().max_storage_buffers_per_stage < 9) return;
  const Dispatch dispatch = convolution_of(conv_squeeze_excite({.x = {1, 290, 8, 8}, .hidden = 34}),
                                           adreno_named("Adreno (TM) 660"));
  EXPECT_EQ(std::ranges::count(dispatch.defines, std::pair<std::string, std::string>{"GATES_AHEAD", "4"}), 1);
}

TEST(ConvSqueezeExcite, IsForGpusAndFewProducts) {
  const auto takes = [](const Layers& layers, const DeviceCaps& caps) {
    const OperatorCase test = conv_squeeze_excite(layers);
    const Graph graph = single_node_graph(test);
    return takes_means(dynamic_cast<const ConvSqueezeExcite&>(*test.op),
                       operator_inputs(graph, graph.nodes[0]), caps, Precision::fp32);
  };
  DeviceCaps gpu = gpu_named("NAVI31"), cpu = gpu;
  cpu.type = DeviceType::cpu;
  const Layers layers{.x = {1, 16, 14, 14}, .hidden = 4};
  EXPECT_TRUE(takes(layers, gpu));
  EXPECT_FALSE(takes(layers, cpu));
  EXPECT_FALSE(takes({.x = {1, 2052, 7, 7}, .hidden = 80}, gpu)) << "many products";
  EXPECT_FALSE(takes({.x = {1, 16, 3, 3}, .hidden = 4}, gpu)) << "most invocations would idle";
  EXPECT_FALSE(takes({.x = {1, 16, 14, 14}, .hidden = 4, .kernel = 7, .pads = {3, 3, 3, 3}}, gpu));
  gpu.max_storage_buffers_per_stage = 3;
  EXPECT_FALSE(takes(layers, gpu));
}

}  // namespace
}  // namespace vellum::test

// Depthwise convolutions that take the means for squeeze-and-excitation, against the references of both; and
// where a device computes them so.
#include "kernels/fused/squeeze_excite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "compile/gated_output.hpp"
#include "compile/gpu_caps.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_squeeze_excite_test {

struct Layers {
  Shape x;
  int64_t hidden = 3, kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  bool biases = true;
  Activation activation = {.kind = ActivationKind::silu};
};

OperatorCase conv_squeeze_excite(const Layers& layers) {
  const int64_t channels = layers.x[1], hidden = layers.hidden;
  auto conv = std::make_shared<Conv>();
  conv->group = channels;
  conv->window.strides = {layers.stride, layers.stride};
  conv->window.pads = layers.pads;
  conv->activation = layers.activation;
  auto squeeze = std::make_shared<SqueezeExcite>();
  squeeze->hidden.kind = ActivationKind::relu;
  squeeze->gate.kind = ActivationKind::sigmoid;
  OperatorCase test{.type = "ConvSqueezeExcite", .inputs = {}};
  test.inputs = {random_tensor(layers.x, 1),
                 random_tensor({channels, 1, layers.kernel, layers.kernel}, 2, -0.5f, 0.5f),
                 random_tensor({channels}, 3),
                 random_tensor({hidden, channels, 1, 1}, 4),
                 random_tensor({hidden}, 5),
                 random_tensor({channels, hidden, 1, 1}, 6),
                 random_tensor({channels}, 7)};
  if (!layers.biases) test.inputs[2] = test.inputs[4] = test.inputs[6] = std::nullopt;
  test.op = squeeze_excite_nodes(conv, squeeze);
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
  EXPECT_TRUE(dispatch.workgroups_cooperate);
  check_operator(test, gpu_named(gpu));
}

TEST(FusedSqueezeExcite, OddShapesAndChannels) {
  check({.x = {2, 6, 7, 9}});
  check({.x = {1, 9, 9, 11}, .stride = 2});
  check({.x = {1, 13, 8, 13}, .hidden = 5, .kernel = 5, .pads = {2, 2, 2, 2}});
  check({.x = {3, 5, 1, 1}, .hidden = 1});
  check({.x = {1, 5, 3, 2}, .pads = {2, 0, 1, 2}, .biases = false, .activation = {}});
}

// Tiles of several pixels overlap at the ends of rows and columns: no pixel counts twice. Workgroups beyond
// the first, the last of which is not full.
TEST(FusedSqueezeExcite, SeveralWorkgroupsOfASlice) {
  for (const char* gpu : {"NAVI31", "Adreno (TM) 618"}) {
    const Layers layers{.x = {2, 6, 39, 41}, .kernel = 5, .pads = {2, 2, 2, 2}};
    EXPECT_GT(convolution_of(conv_squeeze_excite(layers), gpu_named(gpu)).workgroup_count[0], 1u);
    check(layers, gpu);
  }
}

// An activation that maps zero to another value: unused channels of the last slice must not reach the
// products.
TEST(FusedSqueezeExcite, ShiftedActivations) {
  check({.x = {1, 6, 9, 8},
         .activation = {.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3}});
}

// The weights of several slices are loaded together for the gates, as long as there are as many.
TEST(FusedSqueezeExcite, GatesOnAdreno) {
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

TEST(FusedSqueezeExcite, IsForGpusAndFewProducts) {
  const auto takes = [](const Layers& layers, const DeviceCaps& caps) {
    const OperatorCase test = conv_squeeze_excite(layers);
    const Graph graph = single_node_graph(test);
    return gains_by_means(dynamic_cast<const FusedNodes&>(*test.op), operator_inputs(graph, graph.nodes[0]),
                          caps, Precision::fp32);
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

// --- Where it is used ---

// A part of an inverted residual of MobileNetV3 (Howard et al., arXiv 1905.02244, figure 4).
OnnxModel gated_block() {
  OnnxModel model;
  model.input("x", {1, 24, 28, 28})
      .initializer("w", random_tensor({24, 1, 3, 3}, 1))
      .initializer("w1", random_tensor({6, 24, 1, 1}, 2))
      .initializer("w2", random_tensor({24, 6, 1, 1}, 3))
      .initializer("w3", random_tensor({16, 24, 1, 1}, 4))
      .node("Conv", {"x", "w"}, {"filtered"},
            attributes({{"group", int64_t{24}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "depthwise");
  add_gated_output(model);
  return model;
}

std::ptrdiff_t count_of(const CompiledModel& model, std::string_view type) {
  return std::ranges::count_if(model.graph.nodes, [&](const Node& node) { return node.op->type() == type; });
}

TEST(FusedSqueezeExcite, OneDispatchLessOnAGpu) {
  const Graph graph = gated_block().graph();
  const CompiledModel fused = compile(graph, large_gpu(8), {});
  const CompiledModel apart = compile(graph, large_gpu(8), {.fuse_layers = false});
  EXPECT_EQ(count_of(fused, "ConvSqueezeExcite"), 1);
  EXPECT_EQ(count_of(apart, "ConvSqueezeExcite"), 0);
  EXPECT_EQ(count_of(apart, "SqueezeExcite"), 1);
  EXPECT_LT(fused.program.tasks.size(), apart.program.tasks.size());
  DeviceCaps cpu = large_gpu(8);
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(count_of(compile(graph, cpu, {}), "ConvSqueezeExcite"), 0);
}

TEST(FusedSqueezeExcite, NotWithAWrongKernelOrAWeightsBudget) {
  const Graph graph = gated_block().graph();
  EXPECT_EQ(count_of(compile(graph, large_gpu(8), {.weights_budget = 1 << 20}), "ConvSqueezeExcite"), 0);
  const auto wrong = std::make_shared<WrongKernels>(
      WrongKernels{{"conv_depthwise_tile |  | x=BUFFER_F32 | KERNEL=3 MEANS=1",
                    {.why = "it is wrong", .fused = FusedKernelId::squeeze_excite}}});
  EXPECT_EQ(count_of(compile(graph, large_gpu(8), {.wrong_kernels = wrong}), "ConvSqueezeExcite"), 0);
}

TEST(FusedSqueezeExcite, ComputesTheSame) {
  const Graph graph = optimise(gated_block().graph(), {});
  Graph fused = graph;
  fuse(fused, large_gpu(8), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 1, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 24, 28, 28}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  EXPECT_NE(to_text(fused).find("squeeze_"), std::string::npos) << "attributes of both";
}

}  // namespace fused_squeeze_excite_test
}  // namespace vellum::test

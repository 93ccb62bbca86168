// A 1x1 convolution, the depthwise convolution after it and its squeeze-and-excitation in one kernel, against
// the host references of all; and where a device computes them so.
#include "kernels/fused/expand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "compile/gated_output.hpp"
#include "compile/gpu_caps.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/squeeze_excite.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "kernels/fused/expand_tiles.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_expand_test {

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
  auto pointwise = std::make_shared<Conv>(), depthwise = std::make_shared<Conv>();
  pointwise->activation = layers.middle;
  depthwise->group = channels;
  depthwise->window.strides = {layers.stride_y ? layers.stride_y : layers.stride, layers.stride};
  depthwise->window.pads = layers.pads;
  depthwise->activation = layers.last;
  std::shared_ptr<SqueezeExcite> squeeze;
  OperatorCase test{.type = "ExpandConv", .inputs = {}};
  test.inputs = {random_tensor(layers.x, 1), random_tensor({channels, layers.x[1], 1, 1}, 2, -0.3f, 0.3f),
                 random_tensor({channels}, 3),
                 random_tensor({channels, 1, layers.kernel, layers.kernel}, 4, -0.5f, 0.5f),
                 random_tensor({channels}, 5)};
  test.constants = {1, 2, 3, 4};
  if (layers.hidden > 0) {
    squeeze = std::make_shared<SqueezeExcite>();
    squeeze->hidden.kind = ActivationKind::relu;
    squeeze->gate.kind = ActivationKind::sigmoid;
    for (const HostTensor& tensor :
         {random_tensor({layers.hidden, channels, 1, 1}, 6), random_tensor({layers.hidden}, 7),
          random_tensor({channels, layers.hidden, 1, 1}, 8), random_tensor({channels}, 9)})
      test.inputs.emplace_back(tensor);
    test.constants = {1, 2, 3, 4, 5, 6, 7, 8};
  }
  if (!layers.biases)
    for (size_t bias = 2; bias < test.inputs.size(); bias += 2) test.inputs[bias] = std::nullopt;
  test.op = expand_nodes(pointwise, depthwise, squeeze);
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

// A dispatch that is divided would give its workgroups other numbers.
void expect_whole_dispatches(const OperatorCase& test, const DeviceCaps& caps) {
  for (const Dispatch& dispatch : dispatches_on(test, caps))
    EXPECT_EQ(dispatch.workgroups_cooperate, has(dispatch, "MEANS") || has(dispatch, "GATES"))
        << dispatch.shader;
}

// x, two weights, y and the means.
bool has_buffers_for_means(const DeviceCaps& caps) { return caps.max_storage_buffers_per_stage >= 5; }

void check(const Layers& layers, const DeviceCaps& caps = gpu_named("NAVI31")) {
  const OperatorCase test = expand(layers);
  const bool one_kernel = layers.hidden == 0 || has_buffers_for_means(caps);
  EXPECT_EQ(candidates_on(test, caps).front().starts_with("expand"), one_kernel)
      << candidates_on(test, caps).front();
  expect_whole_dispatches(test, caps);
  check_operator(test, caps);
}

TEST(FusedExpand, StridesAndUnevenPadding) {
  check({.x = {2, 6, 7, 9}, .pads = {2, 0, 1, 2}});
  check({.x = {1, 9, 9, 11}, .channels = 5, .stride = 2});
  check({.x = {1, 7, 8, 13}, .channels = 13, .kernel = 5, .pads = {2, 2, 2, 2}});
  check({.x = {1, 8, 9, 7}, .stride = 2, .pads = {0, 0, 0, 0}, .stride_y = 1});
  check({.x = {2, 5, 9, 9}, .channels = 3, .kernel = 5, .stride = 2, .pads = {1, 2, 2, 1}, .biases = false});
}

TEST(FusedExpand, ImagesSmallerThanTheWindow) {
  for (const Shape& x : {Shape{2, 5, 1, 1}, Shape{1, 4, 1, 6}, Shape{1, 6, 6, 1}})
    check({.x = x, .channels = 6});
  check({.x = {1, 9, 2, 3}, .kernel = 5, .stride = 2, .pads = {2, 2, 2, 2}});
}

// The activation between the layers maps zero to another value, which the padding is not.
TEST(FusedExpand, ShiftedActivations) {
  const Activation scaled{.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3};
  check({.x = {1, 5, 6, 6}, .channels = 9, .middle = scaled, .last = {.kind = ActivationKind::hard_swish}});
  check({.x = {1, 5, 6, 6}, .channels = 10, .hidden = 3, .last = scaled});
}

// Images of several tiles, whose windows cover pixels of their neighbours.
TEST(FusedExpand, SeveralTiles) {
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
TEST(FusedExpand, EveryCandidate) {
  for (const char* name : {"NAVI31", "RENOIR", "MTL"})
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      for (const int64_t hidden : {0, 6})
        check_candidates(expand({.x = {1, 22, 30, 29}, .channels = 36, .hidden = hidden}),
                         {.precision = precision, .only = "expand", .caps = gpu_named(name)});
}

// The last workgroup of each image computes its gates, in each run again.
TEST(FusedExpand, GatesOfSeveralImages) {
  DeviceCaps caps = gpu_named("NAVI31");
  if (caps.max_storage_buffers_per_stage < 9) GTEST_SKIP() << "few buffers";
  if (caps.subgroup_size > 64) GTEST_SKIP() << "predicted to be slower with such subgroups";
  const Layers layers{.x = {3, 8, 14, 14}, .channels = 70, .hidden = 9};
  // The worst device needs half of the shared memory for its marks.
  const bool has_memory = caps.max_shared_memory_bytes >= 32 << 10;
  EXPECT_EQ(computes_gates(expand(layers), caps), has_memory);
  // Three more convert x, y and the gates.
  if (has_memory) EXPECT_EQ(dispatches_on(expand(layers), caps).size(), 5u) << "the counters and the kernel";
  check(layers, caps);
  check_operator(expand({.x = {2, 8, 7, 7}, .channels = 200, .hidden = 40}), caps);
  caps.max_storage_buffers_per_stage = 8;
  EXPECT_FALSE(computes_gates(expand(layers), caps));
  check(layers, caps);
}

// Adreno's workgroups are small, or hold few values of each invocation, and load the weights of gates
// together.
TEST(FusedExpand, OnAdreno) {
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

TEST(FusedExpand, UnfusedTimes) {
  DeviceCaps cpu = test_context()->caps();
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(candidates_on(expand({.x = {1, 8, 9, 9}}), cpu).front(), "layers apart");
  check_operator(expand({.x = {2, 10, 7, 9}, .channels = 13, .stride = 2}), cpu);
  for (const int64_t hidden : {0, 3})
    check_candidates(
        expand({.x = {1, 10, 14, 14}, .channels = 13, .hidden = hidden}),
        {.storage = StorageChoice::image2d, .only = "layers apart", .caps = gpu_named("NAVI31")});
}

TEST(FusedExpand, SharedMemoryWithinTheDevice) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_shared_memory_bytes = 16 << 10;
  check_candidates(expand({.x = {1, 8, 40, 40}, .channels = 24}), {.only = "expand", .caps = caps});
}

// --- Where it is used ---

// An inverted residual of EfficientNet (Tan and Le, arXiv 1905.11946).
OnnxModel inverted_residual() {
  OnnxModel model;
  model.input("x", {1, 16, 28, 28})
      .initializer("w0", random_tensor({96, 16, 1, 1}, 1))
      .initializer("w", random_tensor({96, 1, 3, 3}, 2))
      .initializer("w1", random_tensor({4, 96, 1, 1}, 3))
      .initializer("w2", random_tensor({96, 4, 1, 1}, 4))
      .initializer("w3", random_tensor({16, 96, 1, 1}, 5))
      .node("Conv", {"x", "w0"}, {"wide"}, {}, "expand")
      .node("Conv", {"wide", "w"}, {"filtered"},
            attributes({{"group", int64_t{96}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "depthwise");
  add_gated_output(model);
  return model;
}

std::ptrdiff_t fused(const CompiledModel& model) {
  return std::ranges::count_if(
      model.graph.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::expand) != nullptr; });
}

std::ptrdiff_t fused(const OnnxModel& model, const CompileOptions& options = {},
                     const DeviceCaps& caps = large_gpu(16)) {
  return fused(compile(model.graph(), caps, options));
}

TEST(FusedExpand, FewerDispatchesOnAGpu) {
  const Graph graph = inverted_residual().graph();
  const CompiledModel one = compile(graph, large_gpu(16), {});
  const CompiledModel apart = compile(graph, large_gpu(16), {.fuse_layers = false});
  EXPECT_EQ(fused(one), 1);
  EXPECT_EQ(fused(apart), 0);
  // The counters are set, and the kernel computes what took three dispatches or more.
  EXPECT_LT(one.program.tasks.size() + 1, apart.program.tasks.size());
  DeviceCaps cpu = large_gpu(16);
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(fused(compile(graph, cpu, {})), 0);
}

// A depthwise convolution between two 1x1 convolutions is computed with the one where Adreno gains more.
TEST(FusedExpand, RatherThanASeparableConvolutionOnAdreno) {
  const auto network = [](int64_t side, int64_t channels, int64_t stride) {
    OnnxModel model;
    model.input("x", {1, channels, side, side})
        .initializer("w0", random_tensor({6 * channels, channels, 1, 1}, 1))
        .initializer("w1", random_tensor({6 * channels, 1, 3, 3}, 2))
        .initializer("w2", random_tensor({24, 6 * channels, 1, 1}, 3))
        .node("Conv", {"x", "w0"}, {"wide"}, {}, "expand")
        .node("Conv", {"wide", "w1"}, {"filtered"},
              attributes({{"group", 6 * channels},
                          {"strides", std::vector<int64_t>{stride, stride}},
                          {"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
              "depthwise")
        .node("Conv", {"filtered", "w2"}, {"y"}, {}, "project")
        .output("y");
    return model;
  };
  DeviceCaps adreno = large_gpu(16);
  adreno.vendor_id = kQualcomm;
  adreno.name = "Adreno (TM) 660";
  adreno.max_shared_memory_bytes = 32 << 10;
  adreno.subgroup_size = 64;
  EXPECT_EQ(fused(network(112, 16, 2), {}, adreno), 1) << "what is between them is large";
  EXPECT_EQ(fused(network(28, 32, 1), {}, adreno), 0);
  EXPECT_EQ(fused(network(28, 32, 1)), 0);
}

TEST(FusedExpand, LeavesWhatOthersNeed) {
  EXPECT_EQ(fused(inverted_residual()), 1);
  OnnxModel output = inverted_residual(), reader = inverted_residual();
  output.output("wide");
  EXPECT_EQ(fused(output), 0) << "an output of the graph";
  reader.node("Relu", {"wide"}, {"z"}, {}, "reader").output("z");
  EXPECT_EQ(fused(reader), 0) << "another reader";
  EXPECT_EQ(fused(inverted_residual(), {.weights_budget = 1 << 20}), 0) << "a part of the weights at a time";
}

// A wrong kernel is avoided: the layers are computed apart.
TEST(FusedExpand, NotWithAWrongKernel) {
  const CompiledModel right = compile(inverted_residual().graph(), large_gpu(16), {});
  const auto wrong = std::make_shared<WrongKernels>();
  for (const Task& task : right.program.tasks)
    if (task.dispatch && task.dispatch->shader == "conv_expand")
      wrong->insert(
          {kernel_id(*task.dispatch).text(), wrong_kernel(kernel_id(*task.dispatch), "it is wrong")});
  ASSERT_EQ(wrong->size(), 1u);
  const CompiledModel model = compile(inverted_residual().graph(), large_gpu(16), {.wrong_kernels = wrong});
  for (const Task& task : model.program.tasks)
    if (task.dispatch) {
      EXPECT_FALSE(wrong->contains(kernel_id(*task.dispatch).text()));
    }
}

TEST(FusedExpand, ComputesTheSame) {
  const Graph graph = optimise(inverted_residual().graph(), {});
  Graph fused = graph;
  fuse(fused, large_gpu(16), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 2, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 16, 28, 28}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
}

}  // namespace fused_expand_test
}  // namespace vellum::test

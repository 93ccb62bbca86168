// Depthwise separable convolutions in one kernel, against the host references of the two layers; and where a
// device computes them so.
#include "kernels/fused/separable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caps/cooperative_matrix.hpp"
#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_separable_test {

struct Layers {
  Shape x;
  int64_t filters = 8;
  int64_t kernel = 3, stride = 1;
  std::vector<int64_t> pads = {1, 1, 1, 1};
  int64_t stride_y = 0;  // if it is another
  bool biases = true;
  bool residual = false;
  Activation middle = {.kind = ActivationKind::relu}, last = {};
};

OperatorCase separable(const Layers& layers) {
  const int64_t channels = layers.x[1];
  auto depthwise = std::make_shared<Conv>(), pointwise = std::make_shared<Conv>();
  depthwise->group = channels;
  depthwise->window.strides = {layers.stride_y ? layers.stride_y : layers.stride, layers.stride};
  depthwise->window.pads = layers.pads;
  depthwise->activation = layers.middle;
  pointwise->activation = layers.last;
  OperatorCase test{.type = "SeparableConv", .inputs = {}};
  test.inputs = {
      random_tensor(layers.x, 1), random_tensor({channels, 1, layers.kernel, layers.kernel}, 2, -0.5f, 0.5f),
      random_tensor({channels}, 3), random_tensor({layers.filters, channels, 1, 1}, 4, -0.3f, 0.3f),
      random_tensor({layers.filters}, 5)};
  if (!layers.biases) test.inputs[2] = test.inputs[4] = std::nullopt;
  test.op = separable_nodes(depthwise, pointwise);
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
  // With subgroups of more than 64 lanes the kernel is predicted to be slower on the smallest pictures.
  if (!has_buffers || caps.subgroup_size <= 64)
    EXPECT_EQ(takes_one_kernel(test, caps), has_buffers) << candidates_on(test, caps).front();
  if (!has_buffers) return;
  check_candidates(test, {.only = "separable", .caps = caps});
}

TEST(FusedSeparable, StridesAndUnevenPadding) {
  check_one_kernel({.x = {2, 6, 7, 9}, .pads = {2, 0, 1, 2}});
  check_one_kernel({.x = {1, 9, 9, 11}, .filters = 5, .stride = 2});
  check_one_kernel({.x = {1, 7, 8, 13}, .filters = 13, .kernel = 5, .pads = {2, 2, 2, 2}});
  check_one_kernel({.x = {1, 8, 9, 7}, .stride = 2, .pads = {0, 0, 0, 0}, .stride_y = 1});
  check_operator(separable({.x = {2, 5, 9, 9}, .filters = 3, .kernel = 5, .stride = 2, .pads = {1, 2, 2, 1}}),
                 gpu_named("NAVI31"));
}

TEST(FusedSeparable, ImagesSmallerThanATileOrTheWindow) {
  for (const Shape& x : {Shape{2, 5, 1, 1}, Shape{1, 4, 1, 6}, Shape{1, 6, 6, 1}, Shape{1, 3, 2, 3}})
    check_one_kernel({.x = x, .filters = 6});
  check_one_kernel({.x = {1, 9, 2, 3}, .kernel = 5, .stride = 2, .pads = {2, 2, 2, 2}});
}

TEST(FusedSeparable, ResidualsAndActivations) {
  check_operator(
      separable(
          {.x = {1, 10, 7, 6}, .filters = 10, .residual = true, .last = {.kind = ActivationKind::relu}}),
      gpu_named("NAVI31"));
  check_one_kernel({.x = {2, 6, 5, 9}, .filters = 7, .biases = false, .residual = true, .middle = {}});
  // It maps zero to another value: unused channels of the last slice must not reach the products.
  const Activation scaled{.kind = ActivationKind::clip, .alpha = 0, .beta = 6, .scale = 0.5f, .shift = 3};
  check_operator(
      separable(
          {.x = {1, 5, 6, 6}, .filters = 9, .middle = scaled, .last = {.kind = ActivationKind::hard_swish}}),
      gpu_named("NAVI31"));
}

// The depthwise convolution reads what is added: in place, later pixels would read results.
TEST(FusedSeparable, AddsItsOwnInput) {
  OperatorCase test = separable({.x = {1, 12, 9, 8}, .filters = 12});
  test.inputs.emplace_back(std::nullopt);
  test.same_as = {{5, 0}};
  check_operator(test, gpu_named("NAVI31"));
}

// Few pixels and many channels: the invocations of a workgroup share sums, and shared memory is nearly full.
TEST(FusedSeparable, ManyChannels) {
  const OperatorCase test = separable({.x = {1, 260, 5, 5}, .filters = 70});
  EXPECT_NE(candidates_on(test, gpu_named("NAVI31")).front().find("split-K"), std::string::npos);
  check_operator(test, gpu_named("NAVI31"));
}

// Every tile that a GPU may get, among them those of two slices and of eight pixels.
TEST(FusedSeparable, EveryCandidate) {
  for (const char* name : {"NAVI31", "Adreno (TM) 618"})
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      check_candidates(separable({.x = {1, 36, 30, 29}, .filters = 22, .residual = true}),
                       {.precision = precision, .only = "separable", .caps = gpu_named(name)});
    }
}

TEST(FusedSeparable, EveryCandidateOnAdreno) {
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      check_candidates(separable({.x = {1, 44, 14, 13}, .filters = 70, .residual = true}),
                       {.precision = precision,
                        .storage = storage,
                        .only = "separable",
                        .caps = adreno_named(kAdrenos[0])});
}

TEST(FusedSeparable, UnfusedTimes) {
  DeviceCaps cpu = test_context()->caps();
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(candidates_on(separable({.x = {1, 8, 9, 9}}), cpu).front(), "layers apart");
  check_operator(separable({.x = {2, 10, 7, 9}, .filters = 13, .stride = 2, .residual = true}), cpu);
  check_candidates(separable({.x = {1, 10, 7, 9}, .filters = 13}),
                   {.storage = StorageChoice::image2d, .only = "layers apart", .caps = gpu_named("NAVI31")});
}

TEST(FusedSeparable, StaysWithinTheBuffersOfADevice) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_storage_buffers_per_stage = 4;
  const OperatorCase test = separable({.x = {1, 10, 7, 6}, .filters = 10, .residual = true});
  EXPECT_EQ(candidates_on(test, caps), std::vector<std::string>{"layers apart"});
  EXPECT_TRUE(takes_one_kernel(separable({.x = {1, 10, 7, 6}, .filters = 10}), caps));
}

TEST(FusedSeparable, SharedMemoryWithinTheDevice) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_shared_memory_bytes = 16 << 10;
  check_candidates(separable({.x = {1, 400, 9, 9}, .filters = 24}), {.only = "separable", .caps = caps});
  // 16 KiB hold eight pixels of 512 channels in fp32.
  EXPECT_EQ(candidates_on(separable({.x = {1, 1200, 9, 9}}), caps), std::vector<std::string>{"layers apart"});
}

// --- Where it is used ---

DeviceCaps navi31() {
  DeviceCaps caps = large_gpu(8);
  caps.vendor_id = 0x1002;
  caps.subgroup_size = 64;
  return caps;
}

// A block of BlazeFace: depthwise 3x3, 1x1, Add of the block's input, Relu.
OnnxModel block() {
  OnnxModel model;
  model.input("x", {1, 24, 32, 32})
      .initializer("w1", random_tensor({24, 1, 3, 3}, 1))
      .initializer("b1", random_tensor({24}, 2))
      .initializer("w2", random_tensor({24, 24, 1, 1}, 3))
      .node("Conv", {"x", "w1", "b1"}, {"middle"},
            attributes({{"group", int64_t{24}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}), "depthwise")
      .node("Conv", {"middle", "w2"}, {"sums"}, {}, "product")
      .node("Add", {"sums", "x"}, {"added"}, {}, "add")
      .node("Relu", {"added"}, {"y"}, {}, "relu")
      .output("y");
  return model;
}

std::ptrdiff_t fused_nodes(const CompiledModel& model) {
  return std::ranges::count_if(model.graph.nodes, [](const Node& node) {
    return as_fused(node, FusedKernelId::separable) != nullptr;
  });
}

bool has_tensor(const Program& program, std::string_view name) {
  return std::ranges::any_of(program.tensors,
                             [&](const VirtualTensor& tensor) { return tensor.name == name; });
}

TEST(FusedSeparable, StoresNothingBetweenTheLayersOnAGpu) {
  const Graph graph = block().graph();
  DeviceCaps cpu = navi31();
  cpu.type = DeviceType::cpu;
  const CompiledModel one = compile(graph, navi31(), {}), two = compile(graph, cpu, {});
  EXPECT_EQ(fused_nodes(one), 1);
  EXPECT_EQ(fused_nodes(two), 0);
  EXPECT_EQ(one.program.tasks.size() + 1, two.program.tasks.size());
  EXPECT_FALSE(has_tensor(one.program, "middle"));
  EXPECT_TRUE(has_tensor(two.program, "middle"));
  EXPECT_LT(one.plan.naive_bytes, two.plan.naive_bytes);
}

TEST(FusedSeparable, LeavesWhatOthersNeed) {
  const auto fused = [](const OnnxModel& model, const CompileOptions& options = {},
                        const DeviceCaps& caps = navi31()) {
    return fused_nodes(compile(model.graph(), caps, options));
  };
  EXPECT_EQ(fused(block()), 1);
  OnnxModel output = block(), reader = block();
  output.output("middle");
  EXPECT_EQ(fused(output), 0) << "an output of the graph";
  reader.node("Relu", {"middle"}, {"z"}, {}, "reader").output("z");
  EXPECT_EQ(fused(reader), 0) << "another reader";
  EXPECT_EQ(fused(block(), {.weights_budget = 1 << 20}), 0) << "a part of the weights at a time";
  EXPECT_EQ(fused(block(), {.fuse_layers = false}), 0);
}

// Matrices of halves multiply faster than the kernel does.
TEST(FusedSeparable, LeavesHalvesToCooperativeMatrices) {
  DeviceCaps caps = navi31();
  caps.cooperative_matrices = {{.m = 16, .n = 16, .k = 16}};
  ASSERT_FALSE(half_products(caps).empty());
  const Graph graph = block().graph();
  EXPECT_EQ(fused_nodes(compile(graph, caps, {.precision = Precision::fp16})), 0);
  EXPECT_EQ(fused_nodes(compile(graph, caps, {})), 1);
}

// The result is the graph's: the host reference computes the same with and without.
TEST(FusedSeparable, ComputesTheSame) {
  Graph graph = optimise(block().graph(), {});
  Graph fused = graph;
  fuse(fused, navi31(), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 1, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 24, 32, 32}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
}

// The kernel adds up floats.
TEST(FusedSeparable, LeavesFixedPointToKernelsOfBytes) {
  Graph graph = optimise(block().graph(), {});
  const size_t nodes = graph.nodes.size();
  for (Node& node : graph.nodes)
    if (const auto* conv = dynamic_cast<const Conv*>(node.op.get())) {
      auto copy = std::make_shared<Conv>(*conv);
      copy->fixed_point = std::make_shared<FixedPoint>();
      node.op = std::move(copy);
    }
  fuse(graph, navi31(), Precision::fp32);
  EXPECT_EQ(graph.nodes.size(), nodes);
}

// One launch and one barrier less is worth more than what small layers compute, not more than large ones do.
TEST(FusedSeparable, OneKernelForSmallLayersOfGpus) {
  DeviceCaps cpu = navi31();
  cpu.type = DeviceType::cpu;
  const auto tiles = [&](const SeparableDemand& demand) { return separable_tiles(navi31(), demand); };
  const SeparableDemand small{.width = 16, .height = 16, .inputs = 24, .outputs = 24};
  const SeparableDemand large{.width = 56, .height = 56, .inputs = 256, .outputs = 256};
  EXPECT_FALSE(tiles(small).empty());
  EXPECT_TRUE(tiles(large).empty());
  EXPECT_TRUE(separable_tiles(cpu, small).empty());
}

TEST(FusedSeparable, TilesFitTheDevice) {
  for (const uint32_t vendor : {kAmd, kNvidia, kIntel, kQualcomm, kArm})
    for (const uint32_t shared : {16u << 10, 32u << 10, 64u << 10})
      for (const int64_t inputs : {1, 9, 36, 144, 240, 600})
        for (const int64_t side : {1, 7, 14, 56}) {
          DeviceCaps caps;
          caps.type = DeviceType::integrated_gpu;
          caps.vendor_id = vendor;
          caps.max_shared_memory_bytes = shared;
          const SeparableDemand demand{
              .width = side, .height = side, .inputs = inputs, .outputs = inputs / 4 + 1, .texel_bytes = 8};
          for (const auto& [tile, us] : separable_tiles(caps, demand)) {
            EXPECT_GT(us, 0);
            EXPECT_LE(tile.shared_bytes(demand), std::min(shared, 32u << 10));
            EXPECT_GE(tile.shared_bytes(demand), 8 * inputs * tile.pixels());
            EXPECT_LE(tile.invocations(), caps.max_workgroup_invocations);
            EXPECT_LE(tile.invocations(), vendor == kQualcomm ? 64 : 256) << "half the registers";
            EXPECT_EQ(tile.pixels() % tile.tile.pixels, 0);
            EXPECT_EQ(tile.slices % tile.tile.slices, 0);
          }
        }
}

}  // namespace fused_separable_test
}  // namespace vellum::test

// Depthwise separable convolutions: where a device computes both layers in one kernel, nothing between them
// is stored.
#include "compile/fuse_separable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "caps/cooperative_matrix.hpp"
#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

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
  return std::ranges::count_if(model.graph.nodes,
                               [](const Node& node) { return node.op->type() == "SeparableConv"; });
}

bool has_tensor(const Program& program, std::string_view name) {
  return std::ranges::any_of(program.tensors,
                             [&](const VirtualTensor& tensor) { return tensor.name == name; });
}

TEST(FuseSeparable, StoresNothingBetweenTheLayersOnAGpu) {
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

TEST(FuseSeparable, LeavesWhatOthersNeed) {
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
TEST(FuseSeparable, LeavesHalvesToCooperativeMatrices) {
  DeviceCaps caps = navi31();
  caps.cooperative_matrices = {{.m = 16, .n = 16, .k = 16}};
  ASSERT_FALSE(half_products(caps).empty());
  const Graph graph = block().graph();
  EXPECT_EQ(fused_nodes(compile(graph, caps, {.precision = Precision::fp16})), 0);
  EXPECT_EQ(fused_nodes(compile(graph, caps, {})), 1);
}

// The result is the graph's: the host reference computes the same with and without.
TEST(FuseSeparable, ComputesTheSame) {
  Graph graph = optimise(block().graph(), {});
  Graph fused = graph;
  fuse_separable(fused, navi31(), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 1, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 24, 32, 32}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
}

}  // namespace
}  // namespace vellum::test

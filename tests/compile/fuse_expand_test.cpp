// A 1x1 convolution and the depthwise convolution after it, with squeeze-and-excitation or without, as one
// operator where a GPU gains by it.
#include "compile/fuse_expand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "caps/vendors.hpp"
#include "compile/compile.hpp"
#include "compile/fuse_means.hpp"
#include "compile/gated_output.hpp"
#include "compile/gpu_caps.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

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
  return std::ranges::count_if(model.graph.nodes,
                               [](const Node& node) { return node.op->type() == "ExpandConv"; });
}

std::ptrdiff_t fused(const OnnxModel& model, const CompileOptions& options = {},
                     const DeviceCaps& caps = large_gpu(16)) {
  return fused(compile(model.graph(), caps, options));
}

TEST(FuseExpand, FewerDispatchesOnAGpu) {
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
TEST(FuseExpand, RatherThanASeparableConvolutionOnAdreno) {
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

TEST(FuseExpand, LeavesWhatOthersNeed) {
  EXPECT_EQ(fused(inverted_residual()), 1);
  OnnxModel output = inverted_residual(), reader = inverted_residual();
  output.output("wide");
  EXPECT_EQ(fused(output), 0) << "an output of the graph";
  reader.node("Relu", {"wide"}, {"z"}, {}, "reader").output("z");
  EXPECT_EQ(fused(reader), 0) << "another reader";
  EXPECT_EQ(fused(inverted_residual(), {.weights_budget = 1 << 20}), 0) << "a part of the weights at a time";
}

// A wrong kernel is avoided: the layers are computed apart.
TEST(FuseExpand, NotWithAWrongKernel) {
  const CompiledModel right = compile(inverted_residual().graph(), large_gpu(16), {});
  const auto wrong = std::make_shared<WrongKernels>();
  for (const Task& task : right.program.tasks)
    if (task.dispatch && task.dispatch->shader == "conv_expand")
      wrong->insert({kernel_id(*task.dispatch).text(), "it is wrong"});
  ASSERT_EQ(wrong->size(), 1u);
  const CompiledModel model = compile(inverted_residual().graph(), large_gpu(16), {.wrong_kernels = wrong});
  for (const Task& task : model.program.tasks)
    if (task.dispatch) {
      EXPECT_FALSE(wrong->contains(kernel_id(*task.dispatch).text()));
    }
}

TEST(FuseExpand, ComputesTheSame) {
  const Graph graph = optimise(inverted_residual().graph(), {});
  Graph fused = graph;
  fuse_means(fused, large_gpu(16), Precision::fp32);
  fuse_expand(fused, large_gpu(16), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 2, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 16, 28, 28}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
}

}  // namespace
}  // namespace vellum::test

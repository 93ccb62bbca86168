// Squeeze-and-excitation of what a depthwise convolution computes: on GPUs the convolution takes the means.
#include "compile/fuse_means.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "compile/compile.hpp"
#include "compile/gated_output.hpp"
#include "compile/gpu_caps.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

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

TEST(FuseMeans, OneDispatchLessOnAGpu) {
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

TEST(FuseMeans, NotWithAWrongKernelOrAWeightsBudget) {
  const Graph graph = gated_block().graph();
  EXPECT_EQ(count_of(compile(graph, large_gpu(8), {.weights_budget = 1 << 20}), "ConvSqueezeExcite"), 0);
  const auto wrong = std::make_shared<WrongKernels>(
      WrongKernels{{"conv_depthwise_tile |  | x=BUFFER_F32 | KERNEL=3 MEANS=1", "it is wrong"}});
  EXPECT_EQ(count_of(compile(graph, large_gpu(8), {.wrong_kernels = wrong}), "ConvSqueezeExcite"), 0);
}

TEST(FuseMeans, ComputesTheSame) {
  const Graph graph = optimise(gated_block().graph(), {});
  Graph fused = graph;
  fuse_means(fused, large_gpu(8), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 1, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 24, 28, 28}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  EXPECT_NE(to_text(fused).find("squeeze_"), std::string::npos) << "attributes of both";
}

}  // namespace
}  // namespace vellum::test

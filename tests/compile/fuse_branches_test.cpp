// A 1x1 and a 3x3 convolution of one input, concatenated, as one convolution where a GPU gains by it.
#include "compile/fuse_branches.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

// A fire module of SqueezeNet (Iandola et al., arXiv 1602.07360) with as many filters of one pixel.
OnnxModel fire_module(int64_t narrow = 64) {
  const Attributes same = attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  OnnxModel model;
  model.input("x", {1, 16, 28, 28})
      .initializer("w1", random_tensor({narrow, 16, 1, 1}, 1))
      .initializer("w3", random_tensor({64, 16, 3, 3}, 2))
      .initializer("b3", random_tensor({64}, 3))
      .node("Conv", {"x", "w1"}, {"a"}, {}, "expand1x1")
      .node("Relu", {"a"}, {"c"}, {}, "relu1")
      .node("Conv", {"x", "w3", "b3"}, {"b"}, same, "expand3x3")
      .node("Relu", {"b"}, {"d"}, {}, "relu3")
      .node("Concat", {"c", "d"}, {"y"}, attributes({{"axis", int64_t{1}}}), "concat")
      .output("y");
  return model;
}

std::ptrdiff_t convolutions(const OnnxModel& model, const CompileOptions& options = {},
                            const DeviceCaps& caps = large_gpu(16)) {
  const CompiledModel compiled = compile(model.graph(), caps, options);
  return std::ranges::count_if(compiled.graph.nodes,
                               [](const Node& node) { return node.op->type() == "Conv"; });
}

TEST(FuseBranches, OneConvolutionOnAGpu) {
  EXPECT_EQ(convolutions(fire_module()), 1);
  EXPECT_EQ(convolutions(fire_module(), {.fuse_layers = false}), 2);
  DeviceCaps cpu = large_gpu(16);
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(convolutions(fire_module(), {}, cpu), 2);
}

TEST(FuseBranches, LeavesWhatDiffers) {
  EXPECT_EQ(convolutions(fire_module(18)), 2) << "a slice of both";
  OnnxModel reader = fire_module();
  reader.node("Sigmoid", {"c"}, {"z"}, {}, "reader").output("z");
  EXPECT_EQ(convolutions(reader), 2) << "another reader";
}

TEST(FuseBranches, ComputesTheSame) {
  const Graph graph = optimise(fire_module().graph(), {});
  Graph fused = graph;
  fuse_branches(fused, large_gpu(16), Precision::fp32);
  ASSERT_EQ(fused.nodes.size() + 2, graph.nodes.size());
  const std::vector<HostTensor> inputs{random_tensor({1, 16, 28, 28}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  const auto macs_of = [](const Graph& of) {
    uint64_t macs = 0;
    for (const Node& node : of.nodes) macs += node.op->macs(operator_inputs(of, node));
    return macs;
  };
  EXPECT_EQ(macs_of(fused), macs_of(graph));
}

}  // namespace
}  // namespace vellum::test

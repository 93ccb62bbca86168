// A 1x1 and a 3x3 convolution of one input, concatenated, in one kernel, against the host references of the
// three nodes; and where a device computes them so.
#include "kernels/fused/branches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_branches_test {

OperatorCase branches(const Shape& x, int64_t narrow, int64_t wide, bool biases = true) {
  auto pointwise = std::make_shared<Conv>(), window = std::make_shared<Conv>();
  window->window.pads = {1, 1, 1, 1};
  pointwise->activation.kind = window->activation.kind = ActivationKind::relu;
  OperatorCase test{.type = "Conv", .inputs = {}};
  test.inputs = {random_tensor(x, 1), random_tensor({narrow, x[1], 1, 1}, 2, -0.3f, 0.3f),
                 random_tensor({narrow}, 3), random_tensor({wide, x[1], 3, 3}, 4, -0.3f, 0.3f),
                 random_tensor({wide}, 5)};
  if (!biases) test.inputs[2] = std::nullopt;
  test.op = branch_nodes(pointwise, window);
  test.constants = {1, 2, 3, 4};
  return test;
}

TEST(FusedBranches, ShapesAndChannels) {
  for (const char* gpu : {"NAVI31", "RTX 3090"}) {
    check_operator(branches({1, 6, 7, 9}, 16, 5), gpu_named(gpu));
    check_operator(branches({2, 16, 13, 13}, 32, 20), gpu_named(gpu));
    check_operator(branches({1, 5, 1, 1}, 16, 16, false), gpu_named(gpu));
  }
}

TEST(FusedBranches, EveryCandidate) {
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    check_candidates(branches({1, 64, 14, 14}, 48, 32),
                     {.precision = precision, .caps = gpu_named("NAVI31")});
}

TEST(FusedBranches, OnAdreno) {
  for (const char* name : kAdrenos) check_operator(branches({1, 6, 7, 9}, 16, 5), adreno_named(name));
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      check_candidates(
          branches({1, 18, 9, 22}, 48, 20),
          {.precision = precision, .storage = storage, .only = "direct", .caps = adreno_named(kAdrenos[0])});
}

// Other kernels would multiply neighbours with zeros, which is NaN where these are infinite.
TEST(FusedBranches, HasNoOtherKernels) {
  OperatorCase test = branches({1, 8, 5, 5}, 16, 16);
  std::vector<Choice> choices;
  lower(single_node_graph(test), gpu_named("NAVI31"), {.choices = &choices});
  for (const std::string& name : candidate_names(choices.at(0)))
    EXPECT_TRUE(name.starts_with("direct")) << name;
}

// --- Where it is used ---

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

std::ptrdiff_t fused_nodes(const OnnxModel& model, const CompileOptions& options = {},
                           const DeviceCaps& caps = large_gpu(16)) {
  const CompiledModel compiled = compile(model.graph(), caps, options);
  return std::ranges::count_if(compiled.graph.nodes, [](const Node& node) {
    return as_fused(node, FusedKernelId::branches) != nullptr;
  });
}

TEST(FusedBranches, OneConvolutionOnAGpu) {
  EXPECT_EQ(fused_nodes(fire_module()), 1);
  EXPECT_EQ(fused_nodes(fire_module(), {.fuse_layers = false}), 0);
  DeviceCaps cpu = large_gpu(16);
  cpu.type = DeviceType::cpu;
  EXPECT_EQ(fused_nodes(fire_module(), {}, cpu), 0);
}

TEST(FusedBranches, LeavesWhatDiffers) {
  EXPECT_EQ(fused_nodes(fire_module(18)), 0) << "a slice of both";
  OnnxModel reader = fire_module();
  reader.node("Sigmoid", {"c"}, {"z"}, {}, "reader").output("z");
  EXPECT_EQ(fused_nodes(reader), 0) << "another reader";
}

TEST(FusedBranches, ComputesTheSame) {
  const Graph graph = optimise(fire_module().graph(), {});
  Graph fused = graph;
  fuse(fused, large_gpu(16), Precision::fp32);
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

}  // namespace fused_branches_test
}  // namespace vellum::test

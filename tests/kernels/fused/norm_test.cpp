// Products whose kernels normalise their channels, against their host references.
#include "kernels/fused/norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "compile/gpu_caps.hpp"
#include "exec/executor.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_norm_test {

struct NormedProduct {
  Shape x;  // two dimensions: of a Gemm
  int64_t filters = 8;
  bool bias = true, residual = false, keeps_layer = false, centred = true, norm_bias = true;
  Activation activation = {};       // of the product
  Activation norm_activation = {};  // of the normalisation of a convolution
  float offset = 0;                 // of the biases
};

std::shared_ptr<const FusedNodes> nodes_of(const NormedProduct& product) {
  if (product.x.size() == 2) {
    auto gemm = std::make_shared<Gemm>();
    gemm->activation = product.activation;
    auto norm = std::make_shared<LayerNormalization>();
    norm->centred = product.centred;
    return norm_nodes(gemm, norm, product.keeps_layer);
  }
  auto conv = std::make_shared<Conv>();
  conv->activation = product.activation;
  auto norm = std::make_shared<ChannelNormalization>();
  norm->centred = product.centred;
  norm->activation = product.norm_activation;
  return norm_nodes(conv, norm, product.keeps_layer);
}

OperatorCase product_norm(const NormedProduct& product) {
  OperatorCase test{.type = "ProductNorm", .inputs = {}};
  const int64_t inputs = product.x[1], outputs = product.filters;
  Shape y = product.x;
  y[1] = outputs;
  const Shape w = product.x.size() == 2 ? Shape{inputs, outputs} : Shape{outputs, inputs, 1, 1};
  test.inputs = {random_tensor(product.x, 1),
                 random_tensor(w, 2, -0.3f, 0.3f),
                 random_tensor({outputs}, 3, product.offset - 1, product.offset + 1),
                 random_tensor(y, 4),
                 random_tensor({outputs}, 5),
                 random_tensor({outputs}, 6)};
  if (!product.bias) test.inputs[2] = std::nullopt;
  if (!product.residual) test.inputs[3] = std::nullopt;
  if (!product.norm_bias) test.inputs.pop_back();
  test.op = nodes_of(product);
  test.output_count = product.keeps_layer ? 2 : 1;
  test.constants = {1, 2, 4, 5};
  test.sweep.linear_inputs = false;
  return test;
}

bool takes(const NormedProduct& product, const DeviceCaps& caps) {
  const OperatorCase test = product_norm(product);
  const Graph graph = single_node_graph(test);
  return gains_by_norm(dynamic_cast<const FusedNodes&>(*test.op), operator_inputs(graph, graph.nodes[0]),
                       caps, Precision::fp32);
}

void check(const NormedProduct& product, const char* gpu = "NAVI31") {
  DeviceCaps caps = gpu_named(gpu);
  caps.cooperative_matrices.clear();
  ASSERT_TRUE(takes(product, caps));
  check_operator(product_norm(product), caps);
}

TEST(FusedNorm, OddShapesAndChannels) {
  for (const char* gpu : {"NAVI31", "MTL"}) {
    check({.x = {13, 10}, .filters = 6}, gpu);
    check({.x = {50, 24}, .filters = 48, .residual = true, .keeps_layer = true}, gpu);
    check({.x = {1, 9}, .filters = 35, .bias = false}, gpu);
    check({.x = {2, 5, 7, 7}, .filters = 17, .norm_bias = false}, gpu);
    check({.x = {1, 6, 3, 30}, .filters = 9, .residual = true, .centred = false}, gpu);
  }
}

// Many channels: the invocations of a workgroup share sums.
TEST(FusedNorm, SharedSums) {
  check({.x = {50, 260}, .filters = 64, .residual = true, .keeps_layer = true});
  check({.x = {1, 516, 4, 4}, .filters = 34, .centred = false});
}

TEST(FusedNorm, ActivationsBeforeAndAfter) {
  check({.x = {21, 20}, .filters = 18, .activation = {.kind = ActivationKind::gelu}});
  check({.x = {1, 20, 5, 5}, .filters = 18, .norm_activation = {.kind = ActivationKind::gelu}});
  check({.x = {1, 20, 5, 5}, .filters = 18, .norm_activation = {.kind = ActivationKind::relu}});
}

// The deviation of the channels is a thousandth of their mean. One pass over sums and sums of squares would
// lose all digits of the variance.
TEST(FusedNorm, LargeMeans) {
  for (const float offset : {1000.0f, -1000.0f}) {
    OperatorCase test = product_norm({.x = {30, 16}, .filters = 40, .keeps_layer = true, .offset = offset});
    // The sums themselves are rounded to 2^-14, and the normalisation doubles them at most.
    test.sweep.fp32_tolerance = 4e-4;
    test.sweep.fp16 = false;
    check_operator(test, gpu_named("NAVI31"));
  }
}

TEST(FusedNorm, OnAdreno) {
  int taken = 0;
  for (const char* name : kAdrenos) {
    const DeviceCaps caps = adreno_named(name);
    for (const NormedProduct& product :
         {NormedProduct{.x = {49, 36}, .filters = 60}, NormedProduct{.x = {1, 22, 13, 13}, .filters = 50},
          NormedProduct{.x = {25, 160}, .filters = 96, .residual = true, .keeps_layer = true}}) {
      if (!takes(product, caps)) continue;
      ++taken;
      check_operator(product_norm(product), caps);
    }
    EXPECT_FALSE(takes({.x = {1, 8, 30, 30}, .filters = 4096}, caps)) << "no workgroup holds its slices";
  }
  EXPECT_GE(taken, 6);
}

TEST(FusedNorm, IsForGpus) {
  DeviceCaps cpu = gpu_named("NAVI31");
  cpu.type = DeviceType::cpu;
  EXPECT_FALSE(takes({.x = {50, 24}, .filters = 48}, cpu));
  DeviceCaps nvidia = gpu_named("RTX 3090");
  nvidia.vendor_id = kNvidia;
  EXPECT_FALSE(takes({.x = {50, 24}, .filters = 48}, nvidia)) << "not measured";
}

// Where the device binds fewer buffers than the kernel has, the nodes have a kernel each.
TEST(FusedNorm, NodesApart) {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.max_storage_buffers_per_stage = 4;
  caps.cooperative_matrices.clear();
  check_operator(product_norm({.x = {50, 24}, .filters = 48, .residual = true, .keeps_layer = true}), caps);
  check_operator(product_norm({.x = {2, 5, 7, 7}, .filters = 17, .keeps_layer = true}), caps);
}

// --- Where it is used ---

// A block's product with its residual, and the normalisation that the next block begins with.
Graph block(bool reads_before = false) {
  OnnxModel model;
  model.input("x", {50, 24})
      .input("before", {50, 40})
      .initializer("w", random_tensor({24, 40}, 1))
      .initializer("scale", random_tensor({40}, 2))
      .initializer("w2", random_tensor({40, 20}, 3));
  model.node("Gemm", {"x", "w"}, {"product"}, {}, "product")
      .node("Add", {"product", "before"}, {"sum"}, {}, "sum");
  if (reads_before) model.node("Exp", {"sum"}, {"e"}, {}, "earlier reader").output("e");
  model.node("LayerNormalization", {"sum", "scale"}, {"normalised"}, {}, "norm")
      .node("Gemm", {"normalised", "w2"}, {"z"}, {}, "next")
      .node("Relu", {"sum"}, {"y"}, {}, "later reader")
      .output("z")
      .output("y");
  return optimise(model.graph(), {});
}

TEST(FusedNorm, ComputesTheSame) {
  const Graph graph = block();
  Graph fused = graph;
  fuse(fused, large_gpu(16), Precision::fp32);
  EXPECT_EQ(fused.nodes.size(), graph.nodes.size() - 1);
  EXPECT_TRUE(std::ranges::any_of(
      fused.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::norm) != nullptr; }));
  const std::vector<HostTensor> inputs{random_tensor({50, 24}, 9), random_tensor({50, 40}, 10)};
  for (const size_t output : {0, 1})
    EXPECT_EQ(evaluate(fused, inputs)[output].to_floats(), evaluate(graph, inputs)[output].to_floats());
}

TEST(FusedNorm, KeepsTheOrderOfReaders) {
  const Graph graph = block(true);
  Graph fused = graph;
  fuse(fused, large_gpu(16), Precision::fp32);
  EXPECT_EQ(fused.nodes.size(), graph.nodes.size());
}

// Blocks of a transformer: y = x + product(gelu(product(norm(x)))), with a norm after the last and another
// product that is normalised before it is added.
Graph transformer(int64_t blocks) {
  constexpr int64_t kTokens = 50, kWidth = 48, kHidden = 100;
  OnnxModel model(20);
  model.input("x", {kTokens, kWidth});
  uint32_t values = 0;
  const auto constant = [&](const Shape& shape, float least, float most) {
    const std::string name = "c" + std::to_string(values++);
    model.initializer(name, random_tensor(shape, values, least, most));
    return name;
  };
  const auto node = [&](const std::string& type, const std::vector<std::string>& inputs) {
    const std::string name = "v" + std::to_string(values++);
    model.node(type, inputs, {name}, {}, name + "/" + type);
    return name;
  };
  const auto norm = [&](const std::string& x) {
    return node("LayerNormalization", {x, constant({kWidth}, 0.5f, 1.5f), constant({kWidth}, -1, 1)});
  };
  std::string x = node("Gemm", {"x", constant({kWidth, kWidth}, -0.3f, 0.3f)});
  for (int64_t block = 0; block < blocks; ++block) {
    const std::string hidden =
        node("Gelu", {node("Gemm", {norm(x), constant({kWidth, kHidden}, -0.3f, 0.3f)})});
    x = node("Add", {x, node("Gemm", {hidden, constant({kHidden, kWidth}, -0.3f, 0.3f)})});
  }
  x = node("Add", {x, norm(node("Gemm", {x, constant({kWidth, kWidth}, -0.3f, 0.3f)}))});
  model.output(norm(x));
  return model.graph();
}

// The least that devices may bind, and what they may hold in a workgroup.
DeviceCaps small_gpu() {
  DeviceCaps caps = gpu_named("NAVI31");
  caps.cooperative_matrices.clear();
  caps.reads_images_as_storage = true;
  caps.max_storage_images_per_stage = 4;
  caps.max_storage_buffers_per_stage = 4;
  caps.max_workgroup_invocations = 128;
  caps.max_shared_memory_bytes = 16384;
  return caps;
}

TEST(FusedNorm, InTransformers) {
  const Graph graph = transformer(3);
  const std::vector<HostTensor> inputs{random_tensor({50, 48}, 9)};
  const HostTensor want = evaluate(graph, inputs)[0];
  for (const DeviceCaps& caps : {gpu_named("NAVI31"), small_gpu()})
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
      CompileOptions options;
      options.storage = storage;
      const auto compiled = std::make_shared<const CompiledModel>(compile(graph, caps, options));
      const auto norms = std::ranges::count_if(
          compiled->graph.nodes, [](const Node& node) { return node.op->type() == "ProductNorm"; });
      EXPECT_EQ(norms, 4);
      Executor executor(test_context(), compiled);
      for (int run = 0; run < 2; ++run) {
        executor.set_input(0, inputs[0]);
        executor.run();
        EXPECT_LE(largest_difference(executor.output(0), want), 1e-4);
      }
    }
}

}  // namespace fused_norm_test
}  // namespace vellum::test

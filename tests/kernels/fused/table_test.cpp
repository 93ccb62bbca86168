// Quantised layers with a table of their results, against their host references.
#include "kernels/fused/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "exec/executor.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/framework/value_grids.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/gpu_named.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace fused_table_test {

constexpr int64_t kFirst = -120;

// Entries that no other number of the table has.
HostTensor entries() {
  std::vector<float> values;
  for (int i = 0; i < ByteTable::kEntries; ++i) values.push_back(static_cast<float>(i * 97 % 256));
  return HostTensor::f32({ByteTable::kEntries}, values);
}

// Multiples of 1/16, so that sums are exact and all devices round them alike.
HostTensor sixteenths(Shape shape, uint32_t seed) {
  HostTensor tensor = random_tensor(std::move(shape), seed, -1.5f, 1.5f);
  for (float& value : tensor.mutable_as<float>()) value = std::nearbyint(16 * value) / 16;
  return tensor;
}

struct Layer {
  Shape x, w;
  int64_t group = 1, pad = 0;
  bool bias = true, residual = false, scale = false;
  Activation activation = {.step = 0.125f, .least = -100, .most = 130};
};

OperatorCase with_table(const Layer& layer) {
  auto table = std::make_shared<ByteTable>();
  table->x_step = layer.activation.step;
  table->first = kFirst;
  std::shared_ptr<const Operator> op;
  Shape y = layer.x, factors(layer.x.size(), 1);
  factors[1] = layer.x[1];
  if (layer.x.size() == 2) {
    auto gemm = std::make_shared<Gemm>();
    gemm->activation = layer.activation;
    op = gemm;
    y[1] = layer.w[1];
  } else {
    auto conv = std::make_shared<Conv>();
    conv->group = layer.group;
    conv->window.pads.assign(4, layer.pad);
    conv->activation = layer.activation;
    op = conv;
    y[1] = layer.w[0];
  }
  OperatorCase test{.type = "ConvTable", .inputs = {}};
  test.inputs = {sixteenths(layer.x, 1), sixteenths(layer.w, 2), sixteenths({y[1]}, 3),
                 sixteenths(y, 4),       sixteenths(factors, 5), entries()};
  if (!layer.bias) test.inputs[2] = std::nullopt;
  if (!layer.residual) test.inputs[3] = std::nullopt;
  if (!layer.scale) test.inputs[4] = std::nullopt;
  test.op = table_nodes(op, table);
  test.constants = {1, 2, kResultTable};
  test.sweep.fp16 = test.sweep.arithmetic_fp16 = false;  // halves of sums may be rounded to another step
  test.sweep.as_for_gpu = true;
  test.sweep.buffers = 5;  // of a residual or a scale
  return test;
}

void check(const Layer& layer) {
  check_operator(with_table(layer));
  check_candidates(with_table(layer));
}

TEST(FusedTable, Convolutions) {
  check({.x = {1, 10, 5, 7}, .w = {9, 10, 1, 1}});
  check({.x = {2, 6, 5, 7}, .w = {9, 6, 3, 3}, .pad = 1});
  check({.x = {1, 10, 6, 5}, .w = {10, 1, 3, 3}, .group = 10, .pad = 1, .bias = false});
  check({.x = {1, 12, 6, 5}, .w = {6, 6, 3, 3}, .group = 2});
}

TEST(FusedTable, Products) {
  check({.x = {7, 20}, .w = {20, 13}});
  check({.x = {1, 40}, .w = {40, 8}, .bias = false});
}

// The activation comes first; residuals and scales of channels before it.
TEST(FusedTable, ActivationsResidualsAndScales) {
  Activation bounded{.kind = ActivationKind::leaky_relu, .alpha = 0.5f};
  bounded.step = 0.25f, bounded.least = -7, bounded.most = 9;
  check({.x = {1, 8, 5, 7}, .w = {8, 8, 1, 1}, .activation = bounded});
  check({.x = {1, 8, 5, 7}, .w = {8, 8, 1, 1}, .residual = true});
  check({.x = {1, 8, 5, 7}, .w = {12, 8, 1, 1}, .scale = true});
  check({.x = {5, 12}, .w = {12, 8}, .residual = true});
}

// --- Where it is used ---

// y = f(round(product)), with the functions of a SiLU after the rounding.
OnnxModel model_of_silu(float step_of_product) {
  OnnxModel model;
  model.input("x", {1, 8, 5, 5})
      .initializer("w", sixteenths({12, 8, 1, 1}, 2))
      .initializer("step", HostTensor::f32({}, std::vector<float>{step_of_product}))
      .initializer("fine", HostTensor::f32({}, std::vector<float>{0.0625f}))
      .initializer("zero", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  const auto round = [&](const std::string& from, const std::string& to, const char* step) {
    model.node("QuantizeLinear", {from, step, "zero"}, {to + "_q"});
    model.node("DequantizeLinear", {to + "_q", step, "zero"}, {to});
  };
  model.node("Conv", {"x", "w"}, {"product"});
  round("product", "rounded", "step");
  model.node("Sigmoid", {"rounded"}, {"gate"});
  model.node("Mul", {"rounded", "gate"}, {"silu"});
  round("silu", "y", "fine");
  model.node("Relu", {"y"}, {"z"}).output("z");
  return model;
}

bool has_table(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::table) != nullptr; });
}

TEST(FusedTable, ComputesTheSame) {
  const Graph graph = optimise(model_of_silu(0.125f).graph(), {});
  Graph fused = graph;
  fuse(fused, test_context()->caps(), Precision::fp32);
  ASSERT_TRUE(has_table(fused));
  EXPECT_LT(fused.nodes.size(), graph.nodes.size());
  const std::vector<HostTensor> inputs{sixteenths({1, 8, 5, 5}, 9)};
  EXPECT_EQ(evaluate(fused, inputs)[0].to_floats(), evaluate(graph, inputs)[0].to_floats());
  // The result has the numbers of the table, and stays in bytes.
  const auto table = std::ranges::find_if(
      fused.nodes, [](const Node& node) { return as_fused(node, FusedKernelId::table) != nullptr; });
  EXPECT_EQ(value_grids(fused)[table->outputs[0]]->step, 0.0625f);
}

// Two layers on grids of their own, whose concatenation is on a third.
TEST(FusedTable, StoresPartsOfAConcatenation) {
  OnnxModel model;
  model.input("x", {1, 8, 9, 7})
      .initializer("zero", HostTensor::from<int64_t>(DType::i8, {}, std::array{int64_t{0}}));
  const auto round = [&](const std::string& from, const std::string& to, float step) {
    model.initializer(to + "_step", HostTensor::f32({}, std::vector<float>{step}));
    model.node("QuantizeLinear", {from, to + "_step", "zero"}, {to + "_q"});
    model.node("DequantizeLinear", {to + "_q", to + "_step", "zero"}, {to});
  };
  round("x", "in", 0.0625f);
  for (const std::string layer : {"a", "b"}) {
    model.initializer(layer + "_w", sixteenths({12, 8, layer == "a" ? 1 : 3, 1}, layer == "a" ? 2 : 3));
    model.node("Conv", {"in", layer + "_w"}, {layer + "_c"},
               attributes({{"pads", Attributes::Ints{layer == "a" ? 0 : 1, 0, layer == "a" ? 0 : 1, 0}}}));
    model.node("Relu", {layer + "_c"}, {layer + "_f"});
    round(layer + "_f", layer, layer == "a" ? 0.11f : 0.07f);
  }
  model.node("Concat", {"a", "b"}, {"ab"}, attributes({{"axis", int64_t{1}}}));
  round("ab", "joined", 0.19f);
  model.node("MaxPool", {"joined"}, {"y"}, attributes({{"kernel_shape", Attributes::Ints{2, 2}}}))
      .output("y");
  const Graph graph = optimise(model.graph(), {});
  Graph fused = graph;
  fuse(fused, test_context()->caps(), Precision::fp32);
  const std::vector<HostTensor> inputs{sixteenths({1, 8, 9, 7}, 9)};
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer}) {
    Program program = lower(fused, test_context()->caps(), {.storage = storage});
    EXPECT_EQ(std::ranges::count_if(program.tasks,
                                    [](const Task& task) {
                                      return task.dispatch && task.dispatch->fused == FusedKernelId::table;
                                    }),
              2)
        << to_text(program);
    Executor executor(test_context(), compile_program(test_context(), std::move(program)));
    executor.set_input(0, inputs[0]);
    executor.run();
    EXPECT_EQ(executor.output(0).to_floats(), evaluate(graph, inputs)[0].to_floats());
  }
}

TEST(FusedTable, NotWhereItIsWrongOrHasTooFewBindings) {
  const Graph graph = optimise(model_of_silu(0.125f).graph(), {});
  const WrongKernels wrong{{"conv_pointwise", {.why = "it is wrong", .fused = FusedKernelId::table}}};
  Graph apart = graph;
  fuse(apart, test_context()->caps(), Precision::fp32, &wrong);
  EXPECT_FALSE(has_table(apart));
  DeviceCaps caps = test_context()->caps();
  caps.max_storage_buffers_per_stage = 3;
  apart = graph;
  fuse(apart, caps, Precision::fp32);
  EXPECT_FALSE(has_table(apart));
}

}  // namespace fused_table_test
}  // namespace vellum::test

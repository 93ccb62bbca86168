// A convolution that adds a residual, against the convolution and the addition on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exec/executor.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace residual_test {

struct Window {
  int64_t kernel = 1, stride = 1, group = 1;
  bool clips = false;  // what the residual is added to, as tensors of a quantised model are
};

Shape residual_shape(const Shape& x, int64_t channels, const Window& window) {
  const auto positions = [&](int64_t length) { return (length - 1) / window.stride + 1; };
  return {x[0], channels, positions(x[2]), positions(x[3])};
}

// relu(conv(x) + residual), the residual's missing channels padded with zeros.
Graph residual_block(const Shape& x, int64_t filters, int64_t residual_channels, const Window& window) {
  Attributes placement;
  placement.set("pads", Attributes::Ints(4, window.kernel / 2));
  placement.set("strides", Attributes::Ints(2, window.stride));
  placement.set("group", window.group);
  OperatorCase conv{.type = "Conv",
                    .inputs = {random_tensor(x, 1),
                               random_tensor({filters, x[1] / window.group, window.kernel, window.kernel}, 2),
                               random_tensor({filters}, 3)},
                    .attributes = placement,
                    .constants = {1, 2}};
  Graph graph = single_node_graph(conv);
  const Shape narrow = residual_shape(x, residual_channels, window);
  ValueId residual = graph.add_value("residual", {DType::f32, narrow}, true);
  graph.inputs.push_back(residual);
  const auto add_node = [&](const char* type, const Attributes& attributes, std::vector<ValueId> inputs,
                            int opset) {
    NodeSpec spec{.type = type, .name = type, .opset = opset, .attributes = &attributes, .input_present = {}};
    spec.input_present.assign(inputs.size(), true);
    Node node{type, make_operator(spec), std::move(inputs), {graph.add_value(std::string(type) + "_result")}};
    Value& result = graph.values[node.outputs[0]];
    result.type = node.op->infer(operator_inputs(graph, node))[0];
    result.type_known = true;
    graph.nodes.push_back(node);
    return node.outputs[0];
  };
  Attributes pads;
  pads.set("pads", Attributes::Ints{0, 0, 0, 0, 0, filters - residual_channels, 0, 0});
  if (residual_channels < filters) residual = add_node("Pad", pads, {residual}, 2);
  if (window.clips) {
    Attributes bounds;
    bounds.set("min", -0.4f);
    bounds.set("max", 0.3f);
    graph.outputs[0] = add_node("Clip", bounds, {graph.outputs[0]}, 6);
  }
  const ValueId sum = add_node("Add", {}, {graph.outputs[0], residual}, 13);
  graph.outputs = {add_node("Relu", {}, {sum}, 13)};
  return graph;
}

void check_block(const Shape& x, int64_t filters, int64_t residual_channels, const Window& window = {},
                 Winograd winograd = Winograd::off) {
  const Graph graph = residual_block(x, filters, residual_channels, window);
  const std::vector<HostTensor> inputs{random_tensor(x, 4),
                                       random_tensor(residual_shape(x, residual_channels, window), 5)};
  const HostTensor want = evaluate(graph, inputs)[0];
  const Graph fused = optimise(graph, {});
  ASSERT_EQ(fused.nodes.size(), 1u);
  for (const StorageChoice storage :
       {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer}) {
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      Executor executor(
          test_context(),
          compile_program(test_context(),
                          lower(fused, test_context()->caps(),
                                {.precision = precision, .storage = storage, .winograd = winograd})));
      for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
      executor.run();
      EXPECT_LE(largest_difference(executor.output(0), want), precision == Precision::fp16 ? 2e-2
                                                              : winograd == Winograd::f4   ? 1e-4
                                                                                           : 1e-5)
          << to_string(x) << " residual " << residual_channels << " storage " << static_cast<int>(storage);
    }
  }
}

TEST(ConvResidual, SameChannels) {
  check_block({2, 5, 3, 7}, 6, 6);
  check_block({1, 16, 9, 1}, 13, 13);
}

TEST(ConvResidual, FewerChannels) {
  check_block({2, 5, 3, 7}, 6, 5);
  check_block({1, 8, 5, 6}, 20, 7);
  check_block({1, 8, 5, 6}, 9, 4);
}

// The last is large enough for the variant that loads rows once.
TEST(ConvResidual, OfWiderWindows) {
  check_block({2, 5, 3, 7}, 6, 5, {3, 1});
  check_block({1, 3, 9, 10}, 13, 13, {3, 2});
  check_block({1, 8, 7, 11}, 9, 4, {5, 1});
  check_block({1, 40, 33, 37}, 44, 44, {3, 1});
}

TEST(ConvResidual, OfGroupsAndDepthwise) {
  check_block({1, 9, 5, 7}, 9, 7, {3, 1, 3});
  check_block({1, 16, 5, 7}, 24, 24, {3, 2, 2});
  check_block({2, 6, 5, 9}, 6, 6, {3, 1, 6});
  check_block({1, 9, 4, 5}, 9, 4, {5, 2, 9});
}

// Bounds of the sum that the residual is added to, in each algorithm.
TEST(ConvResidual, OfAClippedSum) {
  check_block({2, 5, 3, 7}, 6, 6, {1, 1, 1, true});
  check_block({1, 8, 5, 6}, 20, 7, {1, 1, 1, true});
  check_block({1, 3, 9, 10}, 13, 13, {3, 2, 1, true});
  check_block({1, 9, 5, 7}, 9, 7, {3, 1, 3, true});
  check_block({2, 6, 5, 9}, 6, 6, {3, 1, 6, true});
  check_block({2, 36, 13, 17}, 41, 41, {3, 1, 1, true}, Winograd::f2);
}

TEST(ConvResidual, OfTransformedTiles) {
  for (const Winograd winograd : {Winograd::f2, Winograd::f4}) {
    check_block({2, 36, 13, 17}, 41, 41, {3, 1}, winograd);
    check_block({1, 36, 13, 17}, 41, 7, {3, 1}, winograd);
  }
}

}  // namespace residual_test
}  // namespace vellum::test

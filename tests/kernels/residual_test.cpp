// A 1x1 convolution that adds a residual, against the convolution and the addition on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exec/executor.hpp"
#include "graph/binary.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace {

// relu(conv(x) + residual), the residual's missing channels padded with zeros.
Graph residual_block(const Shape& x, int64_t filters, int64_t residual_channels) {
  OperatorCase conv{
      .type = "Conv",
      .inputs = {random_tensor(x, 1), random_tensor({filters, x[1], 1, 1}, 2), random_tensor({filters}, 3)},
      .constants = {1, 2}};
  Graph graph = single_node_graph(conv);
  const Shape narrow{x[0], residual_channels, x[2], x[3]};
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
  const ValueId sum = add_node("Add", {}, {graph.outputs[0], residual}, 13);
  graph.outputs = {add_node("Relu", {}, {sum}, 13)};
  return graph;
}

double largest_difference(const HostTensor& a, const HostTensor& b) {
  double largest = 0.0;
  for (size_t i = 0; i < a.as<float>().size(); ++i)
    largest = std::max(largest, static_cast<double>(std::fabs(a.as<float>()[i] - b.as<float>()[i])));
  return largest;
}

void check_block(const Shape& x, int64_t filters, int64_t residual_channels) {
  const Graph graph = residual_block(x, filters, residual_channels);
  const std::vector<HostTensor> inputs{random_tensor(x, 4),
                                       random_tensor({x[0], residual_channels, x[2], x[3]}, 5)};
  const HostTensor want = evaluate(graph, inputs)[0];
  const Graph fused = optimise(graph, {});
  ASSERT_EQ(fused.nodes.size(), 1u);
  for (const StorageChoice storage :
       {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer}) {
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      Executor executor(test_context(),
                        lower(fused, test_context()->caps(), {.precision = precision, .storage = storage}),
                        {});
      for (size_t i = 0; i < inputs.size(); ++i) executor.set_input(i, inputs[i]);
      executor.run();
      EXPECT_LE(largest_difference(executor.output(0), want), precision == Precision::fp16 ? 2e-2 : 1e-5)
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

}  // namespace
}  // namespace vellum::test

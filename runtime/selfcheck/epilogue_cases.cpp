#include "selfcheck/epilogue_cases.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "kernels/fused/separable.hpp"

namespace vellum {
namespace {

using namespace selfcheck;
using Ints = std::vector<int64_t>;
using Ids = std::vector<ValueId>;

// Appends a function of the result and a computed tensor. `result_first`: the order of its operands.
SmallOperator with_function(SmallOperator made, const std::string& function, bool result_first) {
  Graph& graph = made.graph;
  const Node& node = graph.nodes.back();
  const ValueId result = node.outputs[0];
  std::vector<OperatorInput> inputs = operator_inputs(graph, node);
  const TensorType type = node.op->infer(inputs).front();
  Operand other = computed(type.shape, 7);
  const ValueId operand = graph.add_value("operand", type, true), y = graph.add_value("combined", type, true);
  graph.inputs.push_back(operand);
  made.inputs.push_back(std::move(other.tensor));
  append_node(graph, function, result_first ? Ids{result, operand} : Ids{operand, result}, {}, y);
  graph.outputs = {y};
  made.name += " and " + function;
  return made;
}

// Appends a PRelu with a slope for each channel of the result.
SmallOperator with_slopes(SmallOperator made) {
  Graph& graph = made.graph;
  const Node& node = graph.nodes.back();
  const ValueId result = node.outputs[0];
  const TensorType type = node.op->infer(operator_inputs(graph, node)).front();
  const Operand slopes = weights({type.shape[1], 1, 1}, 9);
  const ValueId slope = graph.add_constant("slope", slopes.tensor),
                y = graph.add_value("combined", type, true);
  append_node(graph, "PRelu", {result, slope}, {}, y);
  graph.outputs = {y};
  made.name += " and PRelu";
  return made;
}

// A depthwise separable convolution. `residual`: what its result is added to.
SmallOperator separable(const char* name, const Shape& x, int64_t filters,
                        std::vector<Operand> residual = {}) {
  auto depthwise = std::make_shared<Conv>();
  depthwise->group = x[1];
  depthwise->window.strides = {1, 1};
  depthwise->window.pads = {1, 1, 1, 1};
  std::vector<Operand> inputs{computed(x), weights({x[1], 1, 3, 3}), weights({x[1]}, 3),
                              weights({filters, x[1], 1, 1}, 4), weights({filters}, 5)};
  inputs.insert(inputs.end(), residual.begin(), residual.end());
  return small_operator(name, "SeparableConv", std::move(inputs),
                        separable_nodes(std::move(depthwise), std::make_shared<Conv>()));
}

void add_slopes(std::vector<SmallOperator>& list) {
  const Operand pixels = computed({2, 10, 9, 11}), residual = computed({2, 14, 9, 11}, 6);
  const auto add = [&](SmallOperator made) { list.push_back(with_slopes(std::move(made))); };
  add(small_operator("Conv 3x3", "Conv", {pixels, weights({14, 10, 3, 3}), weights({14}, 3)},
                     {{"pads", Ints{1, 1, 1, 1}}}));
  add(small_operator("Conv 1x1", "Conv", {pixels, weights({14, 10, 1, 1}), weights({14}, 3)}));
  add(small_operator("Conv 1x1 with a residual", "Conv",
                     {pixels, weights({14, 10, 1, 1}), weights({14}, 3), residual},
                     std::make_shared<Conv>()));
  add(small_operator("Conv of many channels and few pixels", "Conv",
                     {computed({1, 196, 3, 3}), weights({14, 196, 3, 3}), weights({14}, 3)}));
  add(separable("SeparableConv", pixels.tensor.shape(), 14));
  add(separable("SeparableConv with a residual", pixels.tensor.shape(), 14, {residual}));
  add(separable("SeparableConv of few pixels", {1, 140, 5, 3}, 38));
  add(small_operator("MaxPool", "MaxPool", {pixels}, {{"kernel_shape", Ints{3, 3}}}));
}

}  // namespace

void add_epilogues(std::vector<SmallOperator>& list) {
  add_slopes(list);
  const auto add = [&](SmallOperator made, const char* function, bool result_first = true) {
    list.push_back(with_function(std::move(made), function, result_first));
  };
  const Operand doubled{HostTensor::f32({4}, std::vector<float>{1, 1, 2, 2}), true};
  const Operand nothing{HostTensor::f32({0}, std::vector<float>{}), true};
  // Whole texels, but no whole slices, so that they can be in a buffer, in channels, and in rows of texels.
  const Shape elements{1, 10, 8, 7};
  add(small_operator("LayerNormalization", "LayerNormalization",
                     {computed({5, 36}), weights({36}), weights({36}, 3)}),
      "Add");
  add(small_operator("ChannelNormalization", "ChannelNormalization",
                     {computed({1, 34, 7, 9}), weights({34}), weights({34}, 3)}),
      "Add", false);
  add(small_operator("LayerNormalization of rank 3", "LayerNormalization",
                     {computed({2, 3, 36}), weights({36}), weights({36}, 3)}),
      "Add");
  add(small_operator("AveragePool", "AveragePool", {computed({1, 10, 9, 11})},
                     {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}),
      "Sub");
  add(small_operator("Resize", "Resize", {computed({1, 6, 7, 5}), nothing, doubled},
                     {{"mode", std::string("linear")}}),
      "Mul");
  add(small_operator("Conv", "Conv", {computed({1, 10, 8, 7}), weights({14, 10, 3, 3}), weights({14}, 3)}),
      "Sub", false);
  add(small_operator("Gemm", "Gemm", {computed({7, 40}), weights({40, 30}), weights({30}, 3)}), "Mul");
  add(small_operator("Gemm of a constant", "Gemm",
                     {weights({9, 38}), computed({38, 30}), weights({9, 1}, 3)}),
      "Add");
  add(small_operator("MatMul of texels", "MatMul", {computed({2, 8, 20}), computed({2, 20, 16}, 2)}), "Sub",
      false);
  add(small_operator("Mul", "Mul", {computed(elements), computed(elements, 2)}), "Add");
  add(small_operator("Max", "Max", {computed(elements), computed(elements, 2)}), "Sub", false);
  add(small_operator("Pad", "Pad", {computed({3, 6, 7, 5}), integers({0, 1, 1, 2, 0, 0, 0, 1})}), "Add");
  add(small_operator("Transpose of rank 5", "Transpose", {computed({1, 2, 3, 6, 8})},
                     {{"perm", Ints{0, 2, 1, 3, 4}}}),
      "Mul");
  add(small_operator("AsStrided, rows to heads", "AsStrided", {computed({31, 24})},
                     {{"offset", int64_t{24}}, {"shape", Ints{1, 3, 30, 8}}, {"strides", Ints{0, 8, 24, 1}}}),
      "Mul");
  add(small_operator(
          "AsStrided, rows to a picture", "AsStrided", {computed({31, 24})},
          {{"offset", int64_t{24}}, {"shape", Ints{1, 8, 5, 6}}, {"strides", Ints{0, 1, 144, 24}}}),
      "Mul");
}

}  // namespace vellum

#include "selfcheck/epilogue_cases.hpp"

#include <cstdint>
#include <string>
#include <utility>

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

}  // namespace

void add_epilogues(std::vector<SmallOperator>& list) {
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

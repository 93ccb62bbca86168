#include "graph/operators/control/device_region.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "graph/operators/control/loop.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/reduction/softmax.hpp"

namespace vellum {
namespace {

// Operators that compute each row of the result from the same row of one tensor, and from constants.
constexpr std::array<std::string_view, 26> kRowOperators{"Relu",
                                                         "LeakyRelu",
                                                         "Sigmoid",
                                                         "Tanh",
                                                         "HardSigmoid",
                                                         "HardSwish",
                                                         "Silu",
                                                         "Elu",
                                                         "Gelu",
                                                         "Softplus",
                                                         "Erf",
                                                         "Clip",
                                                         "Identity",
                                                         "Conv",
                                                         "MaxPool",
                                                         "AveragePool",
                                                         "ConvTranspose",
                                                         "BatchNormalization",
                                                         "GlobalAveragePool",
                                                         "GlobalMaxPool",
                                                         "Flatten",
                                                         "Gemm",
                                                         "MatMul",
                                                         "Softmax",
                                                         "PRelu",
                                                         "GroupNormalization"};
constexpr std::array<std::string_view, 4> kArithmetic{"Add", "Sub", "Mul", "Div"};

bool is_any_of(std::string_view type, const auto& list) {
  return std::ranges::find(list, type) != list.end();
}

bool reads_constants_after_first(const Graph& graph, const Node& node) {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId id) { return id == kNoValue || graph.constant(id) != nullptr; });
}

// Whether a constant is the same for every row of a tensor of this rank.
bool is_same_for_rows(const HostTensor& constant, size_t rank) {
  return constant.shape().size() < rank ||
         (constant.shape().size() == rank && (rank == 0 || constant.shape()[0] == 1));
}

// `rows` has for each value whether its first dimension is the rows.
class RowTracer {
 public:
  RowTracer(const Graph& graph, std::vector<bool> rows) : graph_(graph), rows_(std::move(rows)) {}

  bool trace() {
    for (const Node& node : graph_.nodes) {
      if (!keeps_rows(node)) return false;
      rows_[node.outputs[0]] = true;
    }
    return std::ranges::all_of(graph_.outputs, [&](ValueId id) { return rows_[id]; });
  }

 private:
  size_t rank(ValueId id) const { return graph_.values[id].type.shape.size(); }

  bool keeps_rows(const Node& node) const {
    const std::string_view type = node.op->type();
    if (node.inputs.empty() || node.outputs.size() != 1) return false;
    if (type == "RoiAlign") return !rows_[node.inputs[0]] && rows_[node.inputs[1]] && rows_[node.inputs[2]];
    if (is_any_of(type, kArithmetic)) {
      const size_t of_result = rank(node.outputs[0]);
      return std::ranges::all_of(node.inputs, [&](ValueId id) {
        if (const HostTensor* constant = graph_.constant(id)) return is_same_for_rows(*constant, of_result);
        return rows_[id] && rank(id) == of_result;
      });
    }
    if (!rows_[node.inputs[0]] || rank(node.inputs[0]) < 2) return false;
    if (type == "Gemm") {
      const auto& gemm = dynamic_cast<const Gemm&>(*node.op);
      return !gemm.transpose_a && (node.inputs.size() < 3 || node.inputs[2] == kNoValue ||
                                   is_same_for_rows(*graph_.constant(node.inputs[2]), 2));
    }
    if (type == "MatMul") return rank(node.inputs[1]) == 2;
    if (type == "Flatten") {
      const auto& flatten = dynamic_cast<const Flatten&>(*node.op);
      return normalize_axis(flatten.axis, rank(node.inputs[0]) + 1) == 1;
    }
    if (type == "Softmax") {
      const auto& softmax = dynamic_cast<const Softmax&>(*node.op);
      return normalize_axis(softmax.axis, rank(node.inputs[0])) != 0;
    }
    if (type == "PRelu") return is_same_for_rows(*graph_.constant(node.inputs[1]), rank(node.inputs[0]));
    return true;
  }

  const Graph& graph_;
  std::vector<bool> rows_;
};

}  // namespace

std::vector<TensorType> DeviceRegion::infer(Inputs inputs) const {
  std::vector<TensorType> types, outputs;
  for (const OperatorInput& input : inputs) types.push_back(input.type);
  const Graph typed = body_for(types);
  for (const ValueId id : typed.outputs) outputs.push_back(typed.values[id].type);
  return outputs;
}

std::vector<HostTensor> DeviceRegion::evaluate(HostInputs inputs) const {
  std::vector<HostTensor> arguments;
  for (const HostTensor* input : inputs) arguments.push_back(*input);
  return vellum::evaluate(body, arguments);
}

Graph DeviceRegion::body_for(std::span<const TensorType> types) const {
  Graph graph = body;
  for (size_t i = 0; i < types.size(); ++i) graph.values[graph.inputs[i]].type = types[i];
  for (const Node& node : graph.nodes) {
    const std::vector<TensorType> results = vellum::infer(graph, node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      graph.values[node.outputs[i]].type = results[i];
      graph.values[node.outputs[i]].type_known = true;
    }
  }
  return graph;
}

bool DeviceRegion::keeps_rows(const Graph& typed) const {
  std::vector<bool> rows(typed.values.size(), false);
  for (size_t i = 0; i < typed.inputs.size(); ++i) rows[typed.inputs[i]] = is_late[i];
  return RowTracer(typed, std::move(rows)).trace();
}

bool fits_region(const Graph& graph, const Node& node) {
  const std::string_view type = node.op->type();
  if (node.outputs.size() != 1 || node.inputs.empty() || std::ranges::count(node.inputs, kNoValue) > 0)
    return false;
  if (type == "RoiAlign") return node.inputs.size() == 3;
  if (is_any_of(type, kArithmetic))
    return reads_constants_after_first(graph, node) || graph.constant(node.inputs[0]);
  return is_any_of(type, kRowOperators) && reads_constants_after_first(graph, node);
}

// NOLINTNEXTLINE(misc-no-recursion): LoadLimits::nesting
size_t count_regions(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes) {
    if (dynamic_cast<const DeviceRegion*>(node.op.get())) ++count;
    if (const auto* loop = dynamic_cast<const LoopOperator*>(node.op.get()))
      count += count_regions(loop->body);
  }
  return count;
}

// NOLINTNEXTLINE(misc-no-recursion): LoadLimits::nesting
std::vector<HostTensor> evaluate_with_regions(const Graph& graph, std::span<const HostTensor> inputs,
                                              const RunRegion& run) {
  if (!run) return evaluate(graph, inputs);
  return evaluate(graph, inputs, [&](const Node& node, HostInputs arguments) {  // NOLINT(misc-no-recursion)
    if (const auto* region = dynamic_cast<const DeviceRegion*>(node.op.get())) return run(*region, arguments);
    if (const auto* loop = dynamic_cast<const LoopOperator*>(node.op.get()))
      return loop->evaluate_with(arguments, [&](const Graph& body, std::span<const HostTensor> values) {
        return evaluate_with_regions(body, values, run);
      });
    return evaluate(node, arguments);
  });
}

}  // namespace vellum

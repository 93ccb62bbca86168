#include "passes/shapes/open_types.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "graph/operators/control/branch.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Stand for dimensions that are known only in a run. Shape rules are asked once for each: what comes out the
// same for all three does not follow from such a dimension, whatever is clamped to a length in between.
constexpr std::array<int64_t, 3> kTrialDims{1, 2, (int64_t{1} << 20) + 7};

std::optional<std::vector<TensorType>> try_types(const Node& node, std::vector<OperatorInput> inputs,
                                                 int64_t dim) {
  for (OperatorInput& input : inputs)
    std::replace(input.type.shape.begin(), input.type.shape.end(), kUnknownDim, dim);
  try {
    std::vector<TensorType> types = node.op->infer_open(inputs);
    if (types.empty()) types = node.op->infer(inputs);
    if (types.size() < node.outputs.size()) return std::nullopt;
    return types;
  } catch (const Error&) {
    return std::nullopt;  // the values decide, or the rule does not hold for every length
  }
}

}  // namespace

std::vector<TensorType> open_types(const Graph& graph, const Node& node) {
  for (const ValueId id : node.inputs)
    if (id != kNoValue && !graph.values[id].type_known) return {};
  const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
  std::optional<std::vector<TensorType>> types;
  for (const int64_t dim : kTrialDims) {
    const auto tried = try_types(node, inputs, dim);
    if (!tried) return {};
    if (!types)
      types = tried;
    else if (!leave_open(*types, *tried))
      return {};
  }
  return *types;
}

}  // namespace vellum

#include "kernels/framework/number_range.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

namespace vellum {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Returns whether the results depend only on the order of elements, and are no elements themselves.
bool compares(std::string_view type) {
  return is_one_of(type, {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "ArgMax", "ArgMin"});
}

// Returns whether each result is an element of an input, selected by the order of elements, a condition or an
// index.
bool chooses(std::string_view type, size_t slot) {
  if (type == "Where") return slot > 0;
  if (is_one_of(type, {"Min", "Max", "Clip", "Concat"})) return true;
  return slot == 0 &&
         is_one_of(type, {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand",
                          "Tile", "Slice", "Split", "Gather", "GatherElements", "GatherND", "ReduceMax",
                          "ReduceMin", "TopK", "DepthToSpace", "SpaceToDepth"});
}

struct Beyond {
  bool below = false, above = false;
};

Beyond beyond_32_bits(const HostTensor& constant) {
  Beyond beyond;
  for (const int64_t value : constant.to_ints()) {
    beyond.below |= value < kLeast;
    beyond.above |= value > kMost;
  }
  return beyond;
}

// Returns whether a bound beyond 32 bits has no effect: then the result is always the other operand, which
// fits 32 bits.
bool is_no_bound(std::string_view type, size_t slot, const Beyond& beyond) {
  if (type == "Max" || (type == "Clip" && slot == 1)) return !beyond.above;
  if (type == "Min" || (type == "Clip" && slot == 2)) return !beyond.below;
  return false;
}

}  // namespace

bool exceeds_halves(const HostTensor& constant) {
  if (!is_float(constant.dtype())) return false;
  const auto values = constant.to_floats();
  return std::any_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value) && std::fabs(value) > 65504.0f; });
}

std::vector<std::string> warnings_of_running_exponentials(const Graph& graph) {
  std::vector<std::string> warnings;
  std::set<ValueId> sums;  // running sums, and what arithmetic on them computes
  for (const Node& node : graph.nodes) {
    const std::string_view type = node.op->type();
    const bool from_sum = std::any_of(node.inputs.begin(), node.inputs.end(),
                                      [&](ValueId input) { return sums.contains(input); });
    if (from_sum && type == "Exp")
      warnings.push_back(describe(node) +
                         ": the exponential of a running sum may leave the range of fp16, in which it is "
                         "stored; fp32 has the range");
    const bool keeps =
        is_one_of(type, {"Add", "Sub", "Mul", "Neg", "Div", "Reshape", "Flatten", "Squeeze", "Unsqueeze",
                         "Transpose", "Slice", "Split", "Gather", "Concat", "Pad", "Expand", "Trilu"});
    if (type == "CumSum" || (from_sum && keeps)) sums.insert(node.outputs[0]);
  }
  return warnings;
}

bool exceeds_32_bits(const HostTensor& constant) {
  if (constant.dtype() != DType::i64) return false;
  const Beyond beyond = beyond_32_bits(constant);
  return beyond.below || beyond.above;
}

HostTensor within_32_bits(const HostTensor& constant) {
  std::vector<int64_t> values = constant.to_ints();
  for (int64_t& value : values) value = std::clamp(value, kLeast, kMost);
  return HostTensor::from<int64_t>(constant.dtype(), constant.shape(), values);
}

bool only_order_matters(const Graph& graph, ValueId constant) {
  const Beyond beyond = beyond_32_bits(*graph.constant(constant));
  std::set<ValueId> holds{constant};  // values that may have such an element
  for (const Node& node : graph.nodes) {
    const std::string_view type = node.op->type();
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (!holds.contains(node.inputs[slot]) || compares(type)) continue;
      if (node.inputs[slot] == constant && is_no_bound(type, slot, beyond)) continue;
      if (!chooses(type, slot)) return false;
      const size_t chosen = type == "TopK" ? 1 : node.outputs.size();  // its second output is of indices
      for (size_t i = 0; i < chosen; ++i)
        if (node.outputs[i] != kNoValue) holds.insert(node.outputs[i]);
    }
  }
  return std::none_of(graph.outputs.begin(), graph.outputs.end(),
                      [&](ValueId output) { return holds.contains(output); });
}

}  // namespace vellum

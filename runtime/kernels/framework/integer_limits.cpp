#include "kernels/framework/integer_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/moves_elements.hpp"
#include "graph/operators/movement/select_values.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "graph/operators/reduction/scan.hpp"

namespace vellum {
namespace {

constexpr int64_t kMostOf32Bits = std::numeric_limits<int32_t>::max();

// All elements of a tensor of integers are between these numbers.
struct Interval {
  double low = 0.0, high = 0.0;

  // Whether the device's integers of 32 bits hold them as `dtype`.
  bool fits(DType dtype) const {
    return low >= (dtype == DType::u64 ? 0.0 : -static_cast<double>(kMostOf32Bits) - 1.0) &&
           high <= kMostOf32Bits;
  }
  Interval and_zero() const { return {std::min(low, 0.0), std::max(high, 0.0)}; }
  Interval times(double factor) const { return {low * factor, high * factor}; }
};
using Range = std::optional<Interval>;  // nothing: not known

Interval joined(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval product(const Interval& a, const Interval& b) {
  const auto [least, most] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {least, most};
}

Interval magnitudes(const Interval& x) { return {0.0, std::max(-x.low, x.high)}; }

Range combined(BinaryKind kind, const Interval& a, const Interval& b) {
  switch (kind) {
    case BinaryKind::add:
      return Interval{a.low + b.low, a.high + b.high};
    case BinaryKind::sub:
      return Interval{a.low - b.high, a.high - b.low};
    case BinaryKind::mul:
      return product(a, b);
    case BinaryKind::min:
      return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryKind::max:
      return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
    case BinaryKind::mod:
    case BinaryKind::fmod: {
      const double most = std::min(magnitudes(a).high, magnitudes(b).high);
      const bool is_positive = (kind == BinaryKind::mod ? b : a).low >= 0.0;
      return Interval{is_positive ? 0.0 : -most, most};
    }
    case BinaryKind::pow: {
      if (b.low != b.high) return std::nullopt;
      const double most = std::pow(std::max(1.0, magnitudes(a).high), std::max(0.0, b.high));
      return Interval{a.low < 0.0 ? -most : 0.0, most};
    }
    case BinaryKind::div: {  // no quotient of integers is larger than the dividend
      const double most = magnitudes(a).high;
      return Interval{a.low >= 0.0 && b.low >= 0.0 ? 0.0 : -most, most};
    }
    default:
      return std::nullopt;
  }
}

int64_t largest_dimension(const Shape& shape) {
  return shape.empty() ? 1 : *std::max_element(shape.begin(), shape.end());
}

bool has_64_bits(DType dtype) { return dtype == DType::i64 || dtype == DType::u64; }

// Returns the range of an input whose elements have a magnitude of at most `most`.
Interval input_range(DType dtype, int64_t most) {
  if (dtype == DType::boolean) return {0.0, 1.0};
  const bool is_unsigned =
      dtype == DType::u64 || dtype == DType::u32 || dtype == DType::u16 || dtype == DType::u8;
  return {is_unsigned ? 0.0 : -static_cast<double>(most), static_cast<double>(most)};
}

std::set<std::string> values_of_host(const Program& program) {
  std::set<std::string> names;
  for (const Task& task : program.tasks)
    if (task.host)
      for (const Node& node : task.host->graph->nodes)
        for (const ValueId output : node.outputs)
          if (output != kNoValue) names.insert(task.host->graph->values[output].name);
  return names;
}

class IntegerRanges {
 public:
  IntegerRanges(const Graph& graph, const Program& program)
      : graph_(graph), program_(program), of_host_(values_of_host(program)), ranges_(graph.values.size()) {
    find_constants();
  }

  // Returns the name of a node whose result of 64-bit integers may exceed 32 bits; empty if none does.
  // `most`: the magnitude of the elements of each input.
  std::string exceeded(const std::vector<int64_t>& most) {
    for (size_t i = 0; i < most.size(); ++i)
      if (is_followed(graph_.inputs[i]) && !program_.inputs[i].is_state)
        ranges_[graph_.inputs[i]] = input_range(graph_.values[graph_.inputs[i]].type.dtype, most[i]);
    for (const Node& node : graph_.nodes) {
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) ranges_[node.outputs[i]] = range_of(node, i);
      const ValueId y = node.outputs.front();
      if (y == kNoValue || !ranges_[y] || ranges_[y]->fits(graph_.values[y].type.dtype)) continue;
      const bool wraps =
          !has_64_bits(graph_.values[y].type.dtype) || of_host_.contains(graph_.values[y].name);
      if (!wraps) return node.name.empty() ? graph_.values[y].name : node.name;
      ranges_[y].reset();
    }
    return {};
  }

 private:
  bool is_followed(ValueId id) const { return !is_float(graph_.values[id].type.dtype); }

  // Finds the ranges of the constants of which integers are computed. Others are not read: packed weights of
  // a large network are mapped files of many gigabytes.
  void find_constants() {
    for (const Node& node : graph_.nodes) {
      const bool computes_integers = std::ranges::any_of(
          node.outputs, [&](ValueId output) { return output != kNoValue && is_followed(output); });
      if (!computes_integers) continue;
      for (const ValueId input : node.inputs)
        if (input != kNoValue && is_followed(input) && !ranges_[input] && graph_.values[input].constant)
          ranges_[input] = range_of(*graph_.values[input].constant);
    }
  }

  static Range range_of(const HostTensor& constant) {
    const std::vector<int64_t> values = constant.to_ints();
    if (values.empty()) return std::nullopt;
    const auto [least, most] = std::ranges::minmax_element(values);
    const auto on_device = [](int64_t value) {
      return static_cast<double>(std::clamp(value, -kMostOf32Bits - 1, kMostOf32Bits));
    };
    return Interval{on_device(*least), on_device(*most)};
  }

  Range input(const Node& node, size_t i) const {
    return i < node.inputs.size() && node.inputs[i] != kNoValue ? ranges_[node.inputs[i]] : std::nullopt;
  }

  Range joined_inputs(const Node& node, size_t first) const {
    Range all = input(node, first);
    for (size_t i = first + 1; i < node.inputs.size() && all; ++i) {
      const Range next = input(node, i);
      all = next ? Range(joined(*all, *next)) : std::nullopt;
    }
    return all;
  }

  const Shape& shape(ValueId id) const { return graph_.values[id].type.shape; }

  // Returns the range of output i of a node.
  Range range_of(const Node& node, size_t i) const {
    if (!is_followed(node.outputs[i])) return std::nullopt;
    if (graph_.values[node.outputs[i]].type.dtype == DType::boolean) return Interval{0.0, 1.0};
    if (node.inputs.empty() || node.inputs[0] == kNoValue) return std::nullopt;
    const Operator& op = *node.op;
    const Shape& x_shape = shape(node.inputs[0]);
    const bool has_indices = dynamic_cast<const ArgReduce*>(&op) || dynamic_cast<const NonZero*>(&op) ||
                             (dynamic_cast<const TopK*>(&op) && i == 1);
    if (has_indices) return Interval{0.0, static_cast<double>(largest_dimension(x_shape))};
    if (dynamic_cast<const Where*>(&op)) return joined_inputs(node, 1);
    if (dynamic_cast<const Concat*>(&op)) return joined_inputs(node, 0);
    const Range x = input(node, 0);
    if (!x) return std::nullopt;
    if (moves_elements(node) || dynamic_cast<const TopK*>(&op)) return x->and_zero();
    if (dynamic_cast<const Cast*>(&op)) return x;
    if (const auto* unary = dynamic_cast<const Unary*>(&op)) {
      if (unary->kind == UnaryKind::neg) return Interval{-x->high, -x->low};
      return unary->kind == UnaryKind::abs ? Range(magnitudes(*x)) : std::nullopt;
    }
    if (dynamic_cast<const CumSum*>(&op))
      return x->and_zero().times(static_cast<double>(largest_dimension(x_shape)));
    if (const auto* reduce = dynamic_cast<const Reduce*>(&op)) return reduced(*reduce, *x, node);
    const Range b = input(node, 1);
    if (!b) return std::nullopt;
    if (const auto* binary = dynamic_cast<const Binary*>(&op)) return combined(binary->kind, *x, *b);
    if (dynamic_cast<const MatMul*>(&op))
      return product(*x, *b).and_zero().times(x_shape.empty() ? 1.0 : static_cast<double>(x_shape.back()));
    return std::nullopt;
  }

  Range reduced(const Reduce& reduce, const Interval& x, const Node& node) const {
    if (reduce.kind == ReduceKind::max || reduce.kind == ReduceKind::min) return x;
    const int64_t results = element_count(shape(node.outputs[0]));
    if (reduce.kind != ReduceKind::sum || results == 0) return std::nullopt;
    return x.and_zero().times(static_cast<double>(element_count(shape(node.inputs[0])) / results));
  }

  const Graph& graph_;
  const Program& program_;
  const std::set<std::string> of_host_;  // names of values that the host computes
  std::vector<Range> ranges_;            // by ValueId
};

// Returns the largest number from 0 to `most` for which `holds`, which does for all smaller ones and for 0.
template <typename Holds>
int64_t largest(int64_t most, const Holds& holds) {
  if (holds(most)) return most;
  int64_t right = 0;
  for (int64_t wrong = most; wrong - right > 1;) {
    const int64_t middle = right + (wrong - right) / 2;
    (holds(middle) ? right : wrong) = middle;
  }
  return right;
}

}  // namespace

void limit_integer_inputs(Program& program, const Graph& graph) {
  const auto has_64 = [&](const Value& value) { return has_64_bits(value.type.dtype) && !value.constant; };
  if (std::ranges::none_of(graph.values, has_64) || program.inputs.size() != graph.inputs.size()) return;
  IntegerRanges ranges(graph, program);
  std::vector<int64_t> most(graph.inputs.size(), kMostOf32Bits);
  const std::string node = ranges.exceeded(most);
  // Where constants alone exceed 32 bits no input decides.
  if (node.empty() || !ranges.exceeded(std::vector<int64_t>(most.size(), 0)).empty()) return;
  const int64_t all = largest(kMostOf32Bits, [&](int64_t magnitude) {
    return ranges.exceeded(std::vector<int64_t>(most.size(), magnitude)).empty();
  });
  most.assign(most.size(), all);
  for (size_t i = 0; i < most.size(); ++i) {
    most[i] = kMostOf32Bits;  // an input that no such result depends on
    if (ranges.exceeded(most).empty()) continue;
    most[i] = all;
    program.inputs[i].limit = IntegerLimit{all, node};
  }
}

}  // namespace vellum

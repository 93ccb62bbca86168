#include "kernels/framework/index_limits.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/scatter.hpp"
#include "graph/operators/movement/tensor_scatter.hpp"

namespace vellum {
namespace {

// A value of integers that is an input of the graph plus a constant.
struct ShiftedInput {
  ValueId input = kNoValue;
  int64_t shift = 0;
};

class InputTracer {
 public:
  explicit InputTracer(const Graph& graph) : graph_(graph), producers_(graph.values.size(), nullptr) {
    for (const Node& node : graph.nodes)
      for (const ValueId output : node.outputs)
        if (output != kNoValue) producers_[output] = &node;
  }

  std::optional<ShiftedInput> trace(ValueId value) const {
    int64_t shift = 0;
    while (const Node* node = producers_[value]) {
      const std::optional<ShiftedInput> before = step(*node);
      if (!before) return std::nullopt;
      value = before->input;
      shift += before->shift;
    }
    return graph_.constant(value) == nullptr ? std::optional(ShiftedInput{value, shift}) : std::nullopt;
  }

 private:
  std::optional<ShiftedInput> step(const Node& node) const {
    const bool keeps = dynamic_cast<const ReshapeFamily*>(node.op.get()) || is_integer_cast(node);
    if (keeps) return ShiftedInput{node.inputs[0], 0};
    const auto* binary = dynamic_cast<const Binary*>(node.op.get());
    if (binary == nullptr || !is_index(node.outputs[0])) return std::nullopt;
    if (binary->kind != BinaryKind::add && binary->kind != BinaryKind::sub) return std::nullopt;
    if (const auto added = constant_of(node.inputs[1]))
      return ShiftedInput{node.inputs[0], binary->kind == BinaryKind::add ? *added : -*added};
    const auto added = binary->kind == BinaryKind::add ? constant_of(node.inputs[0]) : std::nullopt;
    return added ? std::optional(ShiftedInput{node.inputs[1], *added}) : std::nullopt;
  }

  bool is_index(ValueId value) const {
    const DType dtype = graph_.values[value].type.dtype;
    return dtype == DType::i32 || dtype == DType::i64;
  }

  bool is_integer_cast(const Node& node) const {
    if (dynamic_cast<const Cast*>(node.op.get()) == nullptr) return false;
    const DType from = graph_.values[node.inputs[0]].type.dtype;
    return !is_float(from) && from != DType::boolean && is_index(node.outputs[0]);
  }

  // All elements of a constant, if they are equal.
  std::optional<int64_t> constant_of(ValueId value) const {
    const HostTensor* constant = graph_.constant(value);
    if (constant == nullptr || constant->elements() == 0 || is_float(constant->dtype())) return std::nullopt;
    const std::vector<int64_t> values = constant->to_ints();
    if (std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end()) return std::nullopt;
    constexpr int64_t kMost = int64_t{1} << 40;  // no sum of them overflows
    return values[0] > -kMost && values[0] < kMost ? std::optional(values[0]) : std::nullopt;
  }

  const Graph& graph_;
  std::vector<const Node*> producers_;  // by ValueId
};

using IndexRange = IndexLimits::Range;

// The positions that a node takes from one of its inputs.
struct NodePositions {
  size_t input = 1;
  std::vector<IndexRange> ranges;
  const char* fault = "";
};

constexpr const char *kReadsOutside = "read outside of its data",
                     *kWritesOutside = "write outside of its data",
                     *kWritesOutsideCache = "write outside of its cache";

// A negative position counts from the end.
IndexRange positions_along(int64_t size) { return {-size, size - 1}; }

std::vector<IndexRange> positions_along(const Shape& shape, int64_t axis) {
  return {positions_along(shape[normalize_axis(axis, shape.size())])};
}

// Returns the ranges of the positions in a tuple: in dimension `first`, and in the next ones up to `depth`.
std::vector<IndexRange> tuple_positions(const Shape& shape, size_t first, int64_t depth) {
  std::vector<IndexRange> ranges;
  for (size_t i = 0; i < static_cast<size_t>(depth); ++i) ranges.push_back(positions_along(shape[first + i]));
  return ranges;
}

std::optional<NodePositions> node_positions(const Graph& graph, const Node& node) {
  const auto shape = [&](size_t i) -> const Shape& { return graph.values[node.inputs[i]].type.shape; };
  const Operator* op = node.op.get();
  if (const auto* gather = dynamic_cast<const Gather*>(op))
    return NodePositions{1, positions_along(shape(0), gather->axis), kReadsOutside};
  if (const auto* gather = dynamic_cast<const GatherElements*>(op))
    return NodePositions{1, positions_along(shape(0), gather->axis), kReadsOutside};
  if (dynamic_cast<const BlockGather*>(op))
    return NodePositions{1, positions_along(shape(0), 0), kReadsOutside};
  if (const auto* gather = dynamic_cast<const GatherND*>(op))
    return NodePositions{1,
                         tuple_positions(shape(0), static_cast<size_t>(gather->batch_dims), shape(1).back()),
                         kReadsOutside};
  if (const auto* scatter = dynamic_cast<const ScatterElements*>(op))
    return NodePositions{1, positions_along(shape(0), scatter->axis), kWritesOutside};
  if (dynamic_cast<const ScatterND*>(op))
    return NodePositions{1, tuple_positions(shape(0), 0, shape(1).back()), kWritesOutside};
  if (const auto* scatter = dynamic_cast<const TensorScatter*>(op)) {
    const TensorScatter::Extents extents = scatter->extents(shape(0), shape(1));
    return NodePositions{2, {{0, extents.capacity - extents.tokens}}, kWritesOutsideCache};
  }
  if (const auto* update = dynamic_cast<const CacheUpdate*>(op)) {
    const size_t axis = normalize_axis(update->axis, shape(1).size());
    return NodePositions{2, {{0, update->cache_type.shape[axis] - shape(1)[axis]}}, kWritesOutsideCache};
  }
  return std::nullopt;
}

// Returns whether no element of the type is outside of the ranges.
bool holds_all(const std::vector<IndexRange>& ranges, DType dtype) {
  if (size_of(dtype) > 2) return false;
  const bool is_unsigned = dtype == DType::u8 || dtype == DType::u16;
  const int64_t count = int64_t{1} << (8 * size_of(dtype));
  const IndexRange all = is_unsigned ? IndexRange{0, count - 1} : IndexRange{-count / 2, count / 2 - 1};
  return std::ranges::all_of(
      ranges, [&](const IndexRange& range) { return range.least <= all.least && range.most >= all.most; });
}

void limit_positions(Port& port, NodePositions positions, int64_t shift, const std::string& node) {
  for (IndexRange& range : positions.ranges) range = {range.least - shift, range.most - shift};
  const auto is_known = [&](const IndexLimits& other) { return other.ranges == positions.ranges; };
  if (port.is_state || positions.ranges.empty() || holds_all(positions.ranges, port.type.dtype) ||
      std::ranges::any_of(port.indices, is_known))
    return;
  port.indices.push_back({std::move(positions.ranges), node, positions.fault});
}

}  // namespace

void limit_indices(Program& program, const Graph& graph) {
  if (program.inputs.size() != graph.inputs.size()) return;
  const InputTracer tracer(graph);
  for (const Node& node : graph.nodes) {
    auto positions = node_positions(graph, node);
    const auto traced = positions ? tracer.trace(node.inputs[positions->input]) : std::nullopt;
    const auto input = traced ? std::ranges::find(graph.inputs, traced->input) : graph.inputs.end();
    if (input == graph.inputs.end()) continue;
    // Where the constant repeats the elements of the input, these are not in the order of the tuples.
    const auto count = [&](ValueId value) { return element_count(graph.values[value].type.shape); };
    if (positions->ranges.size() > 1 && count(*input) != count(node.inputs[positions->input])) continue;
    limit_positions(program.inputs[static_cast<size_t>(input - graph.inputs.begin())], std::move(*positions),
                    traced->shift, node.name.empty() ? graph.values[node.outputs[0]].name : node.name);
  }
}

}  // namespace vellum

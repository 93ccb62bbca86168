#include "compile/joined_storages.hpp"

#include <algorithm>
#include <span>

#include "graph/operator_support.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/slice.hpp"

namespace vellum {
namespace {

constexpr size_t kChannels = 1;

bool is_picture(const Graph& graph, ValueId id) {
  const TensorType& type = graph.values[id].type;
  return !graph.constant(id) && is_float(type.dtype) && type.shape.size() == 4 && type.shape[0] == 1 &&
         element_count(type.shape) > 0;
}

// Whether the parts of channels, one after the other, are whole slices of pictures of one image.
bool are_whole_slices(const Graph& graph, ValueId whole, std::span<const ValueId> parts) {
  if (!is_picture(graph, whole)) return false;
  return std::ranges::all_of(parts, [&](ValueId id) {
    return is_picture(graph, id) && graph.values[id].type.shape[kChannels] % 4 == 0;
  });
}

bool joins(const Graph& graph, const Node& node) {
  const auto* concat = dynamic_cast<const Concat*>(node.op.get());
  return concat && normalize_axis(concat->axis, 4) == kChannels &&
         are_whole_slices(graph, node.outputs[0], node.inputs);
}

// The outputs that are read, which splits and slices leave in their input.
std::vector<ValueId> parts_of(const Graph& graph, const Node& node) {
  std::vector<ValueId> parts;
  for (const ValueId id : node.outputs)
    if (id != kNoValue) parts.push_back(id);
  if (const auto* split = dynamic_cast<const Split*>(node.op.get()))
    return normalize_axis(split->axis, 4) == kChannels ? parts : std::vector<ValueId>{};
  if (!dynamic_cast<const Slice*>(node.op.get())) return {};
  const SliceRange range = static_cast<const Slice&>(*node.op).range(operator_inputs(graph, node));
  const Shape& shape = graph.values[node.inputs[0]].type.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (axis != kChannels && range.output[axis] != shape[axis]) return {};
  const bool whole =
      range.starts.size() == 4 && range.starts[kChannels] % 4 == 0 && range.steps[kChannels] == 1;
  return whole ? parts : std::vector<ValueId>{};
}

bool splits(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue || !is_picture(graph, node.inputs[0])) return false;
  const std::vector<ValueId> parts = parts_of(graph, node);
  return !parts.empty() && are_whole_slices(graph, node.inputs[0], parts);
}

}  // namespace

std::vector<StorageChoice> joined_storages(const Graph& graph) {
  std::vector<StorageChoice> storages;
  const auto put_in_buffer = [&](ValueId id) {
    storages.resize(graph.values.size(), StorageChoice::automatic);
    if (id != kNoValue) storages[id] = StorageChoice::buffer;
  };
  for (const Node& node : graph.nodes) {
    if (joins(graph, node)) {
      std::ranges::for_each(node.inputs, put_in_buffer);
      put_in_buffer(node.outputs[0]);
    } else if (splits(graph, node)) {
      put_in_buffer(node.inputs[0]);
      std::ranges::for_each(node.outputs, put_in_buffer);
    }
  }
  return storages;
}

}  // namespace vellum

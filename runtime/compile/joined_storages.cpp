#include "compile/joined_storages.hpp"

#include <algorithm>
#include <span>

#include "graph/operator_support.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/slice.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/conv/window.hpp"

namespace vellum {
namespace {

constexpr size_t kChannels = 1;

bool is_picture(const Graph& graph, ValueId id) {
  const TensorType& type = graph.values[id].type;
  return !graph.constant(id) && is_float(type.dtype) && type.shape.size() == 4 && type.shape[0] == 1 &&
         element_count(type.shape) > 0;
}

// Returns whether `whole` and all `parts` are pictures of one image, and each part has whole slices of
// channels.
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

// Returns the outputs of a split or slice along channels that are read; empty for other nodes.
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

void put_in_buffer(const Graph& graph, ValueId id, std::vector<StorageChoice>& storages) {
  storages.resize(graph.values.size(), StorageChoice::automatic);
  if (id != kNoValue) storages[id] = StorageChoice::buffer;
}

// Puts float values in buffers if `is_one` is true for their shape.
template <typename IsOne>
void put_shapes_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages, const IsOne& is_one) {
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const TensorType& type = graph.values[id].type;
    if (!graph.constant(id) && is_float(type.dtype) && element_count(type.shape) > 0 && is_one(type.shape))
      put_in_buffer(graph, id, storages);
  }
}

}  // namespace

std::vector<StorageChoice> joined_storages(const Graph& graph) {
  std::vector<StorageChoice> storages;
  const auto put = [&](ValueId id) { put_in_buffer(graph, id, storages); };
  for (const Node& node : graph.nodes) {
    if (joins(graph, node)) {
      std::ranges::for_each(node.inputs, put);
      put(node.outputs[0]);
    } else if (splits(graph, node)) {
      put(node.inputs[0]);
      std::ranges::for_each(node.outputs, put);
    }
  }
  return storages;
}

void put_vectors_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages) {
  put_shapes_in_buffers(graph, storages, [](const Shape& shape) {
    return shape.size() == 4 ? shape[2] * shape[3] == 1 : shape.size() == 2 && shape[0] == 1;
  });
}

namespace {

enum class Reader { product, one_pixel, residual, other };

Reader reader_of(const Graph& graph, const Node& node, size_t slot) {
  const auto* conv = dynamic_cast<const Conv*>(&layer_of(*node.op));
  for (const FusedKernelId kernel : {FusedKernelId::mean, FusedKernelId::norm})
    if (const FusedNodes* fused = as_fused(node, kernel))
      conv = dynamic_cast<const Conv*>(fused->body.nodes[0].op.get());
  if (!conv) return Reader::other;
  if (slot == 3) return Reader::residual;
  if (slot != 0 || conv->group != 1) return Reader::other;
  const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
  const Window2d window = to_2d(conv->place(std::span(inputs).first(2)));
  if (is_pointwise(window)) return Reader::product;
  return window.kernel[0] * window.kernel[1] == 1 ? Reader::one_pixel : Reader::other;
}

}  // namespace

void use_buffers_for_products(const Graph& graph, std::vector<StorageChoice>& storages) {
  constexpr int64_t kWidestTile = 8;
  std::vector<bool> products(graph.values.size()), others(graph.values.size());
  for (const ValueId id : graph.outputs) others[id] = true;
  for (const Node& node : graph.nodes)
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      const ValueId id = node.inputs[slot];
      if (id == kNoValue || !is_picture(graph, id)) continue;
      const Reader reader = reader_of(graph, node, slot);
      if (reader == Reader::product) products[id] = true;
      if (reader == Reader::other) others[id] = true;
    }
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (products[id] && !others[id] && graph.values[id].type.shape[3] % kWidestTile != 0)
      put_in_buffer(graph, id, storages);
}

void put_matrices_in_buffers(const Graph& graph, std::vector<StorageChoice>& storages) {
  put_shapes_in_buffers(graph, storages,
                        [](const Shape& shape) { return shape.size() == 2 || shape.size() == 3; });
}

}  // namespace vellum

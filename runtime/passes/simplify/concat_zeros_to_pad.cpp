#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/pad.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

bool all_zeros(const HostTensor& tensor) {
  const std::vector<float> elements = tensor.to_floats();
  return std::all_of(elements.begin(), elements.end(), [](float x) { return x == 0.0f; });
}

// The only computed input of a Concat, where all others are zeros.
std::optional<size_t> only_data_slot(const GraphEditor& editor, const Node& node) {
  std::optional<size_t> data;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const HostTensor* constant = editor.constant(node.inputs[slot]);
    if (constant != nullptr && all_zeros(*constant)) continue;
    if (constant != nullptr || data) return std::nullopt;
    data = slot;
  }
  return data;
}

void replace_concat(GraphEditor& editor, size_t index) {
  const auto concat = match_node<Concat>(editor, index);
  if (!concat || !is_float_value(editor, concat.node->outputs[0])) return;
  const std::vector<ValueId>& inputs = concat.node->inputs;
  const auto data = only_data_slot(editor, *concat.node);
  if (!data || inputs.size() < 2) return;

  const size_t rank = editor.type(concat.node->outputs[0]).shape.size();
  const size_t axis = normalize_axis(concat->axis, rank);
  Ints pads(2 * rank, 0);
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (slot != *data) pads[slot < *data ? axis : axis + rank] += editor.type(inputs[slot]).shape[axis];
  }
  auto pad = std::make_shared<Pad>();
  pad->pads = std::move(pads);
  editor.replace(index, std::move(pad), {inputs[*data]});
}

}  // namespace

void concat_zeros_to_pad(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) replace_concat(editor, index);
  editor.commit();
}

}  // namespace vellum

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "graph/operators/concat.hpp"
#include "graph/operators/pad.hpp"
#include "passes/rewrite/editor.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

bool all_zeros(const HostTensor& tensor) {
  const std::vector<float> elements = tensor.to_floats();
  return std::all_of(elements.begin(), elements.end(), [](float x) { return x == 0.0f; });
}

// The one input of a Concat that is no constant, where all others are zeros.
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
  const Node& node = editor.node(index);
  const auto* concat = dynamic_cast<const Concat*>(node.op.get());
  if (concat == nullptr || !is_float_value(editor, node.outputs[0])) return;
  const auto data = only_data_slot(editor, node);
  if (!data || node.inputs.size() < 2) return;

  const size_t rank = editor.type(node.outputs[0]).shape.size();
  const size_t axis = normalize_axis(concat->axis, rank);
  Ints pads(2 * rank, 0);
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    if (slot != *data) pads[slot < *data ? axis : axis + rank] += editor.type(node.inputs[slot]).shape[axis];
  }
  auto pad = std::make_shared<Pad>();
  pad->pads = std::move(pads);
  editor.set_operator(index, std::move(pad));
  editor.set_inputs(index, {node.inputs[*data]});
}

}  // namespace

void concat_zeros_to_pad(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) replace_concat(editor, i);
  editor.commit();
}

}  // namespace vellum

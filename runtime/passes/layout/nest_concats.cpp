// Dense blocks (Huang et al., arXiv 1608.06993) concatenate all that came before, again for each layer.
#include <algorithm>
#include <optional>
#include <vector>

#include "graph/operators/concat.hpp"
#include "passes/rewrite/editor.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

const Concat* as_concat(const GraphEditor& editor, size_t index) {
  return editor.removed(index) ? nullptr : dynamic_cast<const Concat*>(editor.node(index).op.get());
}

// The concatenation before node `index` that holds the longest part of its inputs, from the first on.
std::optional<size_t> longest_start(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const size_t rank = editor.type(node.outputs[0]).shape.size();
  const auto axis = [&](const Concat& concat) { return normalize_axis(concat.axis, rank); };
  std::optional<size_t> longest;
  for (const size_t reader : editor.readers(node.inputs[0])) {
    const Concat* concat = reader < index ? as_concat(editor, reader) : nullptr;
    if (concat == nullptr || axis(*concat) != axis(*as_concat(editor, index))) continue;
    const std::vector<ValueId>& inputs = editor.node(reader).inputs;
    if (inputs.size() < 2 || inputs.size() >= node.inputs.size() ||
        !std::equal(inputs.begin(), inputs.end(), node.inputs.begin()))
      continue;
    if (!longest || inputs.size() > editor.node(*longest).inputs.size()) longest = reader;
  }
  return longest;
}

void nest(GraphEditor& editor, size_t index) {
  if (as_concat(editor, index) == nullptr || editor.node(index).inputs.empty()) return;
  const std::optional<size_t> start = longest_start(editor, index);
  if (!start) return;
  const Node &node = editor.node(index), &inner = editor.node(*start);
  std::vector<ValueId> inputs{inner.outputs[0]};
  inputs.insert(inputs.end(), node.inputs.begin() + static_cast<std::ptrdiff_t>(inner.inputs.size()),
                node.inputs.end());
  editor.set_inputs(index, std::move(inputs));
}

}  // namespace

// From the last node back, so that what a concatenation is compared with still has the inputs of the file.
void nest_concats(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = editor.node_count(); i-- > 0;) nest(editor, i);
  editor.commit();
}

}  // namespace vellum

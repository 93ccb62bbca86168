// Dense blocks (Huang et al., arXiv 1608.06993) concatenate the results of all earlier layers, again for each
// layer.
#include <algorithm>
#include <vector>

#include "graph/operators/movement/concat.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The earlier Concat along the same axis whose inputs are the most of the first inputs of `outer`, but not
// all.
Match<Concat> match_longest_start(const GraphEditor& editor, const Match<Concat>& outer) {
  const size_t rank = editor.type(outer.node->outputs[0]).shape.size();
  const std::vector<ValueId>& inputs = outer.node->inputs;
  Match<Concat> longest;
  for (const size_t reader : editor.readers(inputs[0])) {
    const auto inner = reader < outer.index ? match_node<Concat>(editor, reader) : Match<Concat>{};
    if (!inner || normalize_axis(inner->axis, rank) != normalize_axis(outer->axis, rank)) continue;
    const std::vector<ValueId>& start = inner.node->inputs;
    if (start.size() < 2 || start.size() >= inputs.size() ||
        !std::equal(start.begin(), start.end(), inputs.begin()))
      continue;
    if (!longest || start.size() > longest.node->inputs.size()) longest = inner;
  }
  return longest;
}

void nest(GraphEditor& editor, size_t index) {
  const auto outer = match_node<Concat>(editor, index);
  if (!outer || outer.node->inputs.empty()) return;
  const auto inner = match_longest_start(editor, outer);
  if (!inner) return;
  std::vector<ValueId> inputs = outer.node->inputs;
  inputs.erase(inputs.begin(), inputs.begin() + std::ssize(inner.node->inputs));
  inputs.insert(inputs.begin(), inner.node->outputs[0]);
  editor.set_inputs(index, std::move(inputs));
}

}  // namespace

// From the last node on: a Concat is compared with earlier ones that still have all of their inputs.
void nest_concats(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes_backwards()) nest(editor, index);
  editor.commit();
}

}  // namespace vellum

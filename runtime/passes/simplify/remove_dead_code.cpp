#include <algorithm>
#include <utility>
#include <vector>

#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {
namespace {

// Nodes without a read output, and outputs that nobody reads of nodes that have others. A node always has its
// first output (graph.hpp).
void remove_dead_nodes(Graph& graph) {
  GraphEditor editor(graph);
  const auto is_read = [&](ValueId id) { return id != kNoValue && editor.is_read(id); };
  for (const size_t index : editor.nodes_backwards()) {
    std::vector<ValueId> outputs = editor.node(index).outputs;
    if (std::none_of(outputs.begin(), outputs.end(), is_read)) {
      editor.remove(index);
      continue;
    }
    for (size_t i = 1; i < outputs.size(); ++i)
      if (!is_read(outputs[i])) outputs[i] = kNoValue;
    while (outputs.back() == kNoValue) outputs.pop_back();  // stops at the first one
    if (outputs != editor.node(index).outputs) editor.set_outputs(index, std::move(outputs));
  }
  editor.commit();
}

// Values that no node reads or computes. Graph inputs stay: they are part of the model's interface.
void remove_unused_values(Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  std::vector<std::vector<ValueId>*> lists{&graph.inputs, &graph.outputs};
  for (Node& node : graph.nodes) lists.insert(lists.end(), {&node.inputs, &node.outputs});
  for (const auto* list : lists)
    for (const ValueId id : *list)
      if (id != kNoValue) used[id] = true;

  std::vector<ValueId> renumbered(graph.values.size(), kNoValue);
  ValueId count = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = count;
    if (count != i) graph.values[count] = std::move(graph.values[i]);
    ++count;
  }
  graph.values.resize(count);
  for (auto* list : lists)
    for (ValueId& id : *list)
      if (id != kNoValue) id = renumbered[id];
}

}  // namespace

void remove_dead_code(Graph& graph) {
  remove_dead_nodes(graph);
  remove_unused_values(graph);
}

}  // namespace vellum

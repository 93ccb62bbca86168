#include <utility>
#include <vector>

#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {
namespace {

// Nodes without a read output, and outputs that nobody reads of nodes that have others.
void remove_dead_nodes(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes_backwards()) {
    std::vector<ValueId> outputs = editor.node(index).outputs;
    for (ValueId& id : outputs)
      if (id != kNoValue && !editor.is_read(id)) id = kNoValue;
    while (!outputs.empty() && outputs.back() == kNoValue) outputs.pop_back();
    if (outputs.empty())
      editor.remove(index);
    else if (outputs != editor.node(index).outputs)
      editor.set_outputs(index, std::move(outputs));
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

#include <vector>

#include "passes/passes.hpp"

namespace vellum {
namespace {

// Nodes that reach an output, found from the back: the nodes are in topological order.
std::vector<bool> live_values(Graph& graph) {
  std::vector<bool> live(graph.values.size(), false);
  for (const ValueId id : graph.inputs) live[id] = true;  // part of the model's interface, read or not
  for (const ValueId id : graph.outputs) live[id] = true;
  std::vector<Node> kept;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    bool used = false;
    for (const ValueId id : node.outputs) used = used || (id != kNoValue && live[id]);
    if (!used) continue;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) live[id] = true;
    }
    // An output that nobody reads is left out where the operator has others.
    for (ValueId& id : node.outputs) {
      if (id != kNoValue && !live[id]) id = kNoValue;
    }
    while (node.outputs.back() == kNoValue) node.outputs.pop_back();
    kept.push_back(std::move(node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  return live;
}

void drop_values(Graph& graph, const std::vector<bool>& live) {
  std::vector<ValueId> renamed(graph.values.size(), kNoValue);
  ValueId count = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!live[i]) continue;
    renamed[i] = count;
    if (count != i) graph.values[count] = std::move(graph.values[i]);
    ++count;
  }
  graph.values.resize(count);
  const auto rename = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id != kNoValue) id = renamed[id];
    }
  };
  rename(graph.inputs);
  rename(graph.outputs);
  for (Node& node : graph.nodes) {
    rename(node.inputs);
    rename(node.outputs);
  }
}

}  // namespace

void remove_dead_code(Graph& graph) { drop_values(graph, live_values(graph)); }

}  // namespace vellum

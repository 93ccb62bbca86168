#include "passes/shapes/inline_branch.hpp"

#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "graph/operators/branch.hpp"
#include "graph/operators/reshape.hpp"

namespace vellum {
namespace {

// Values of a branch by their id in the graph that it becomes part of.
std::vector<ValueId> add_values(Graph& graph, const Node& node, const If& choice, bool condition) {
  const Graph& branch = choice.branch(condition);
  std::vector<ValueId> ids(branch.values.size(), kNoValue);
  for (size_t i = 0; i < branch.inputs.size(); ++i) {
    ids[branch.inputs[i]] = node.inputs[choice.first_input(condition) + i];
  }
  std::unordered_set<std::string> names;
  for (const Value& value : graph.values) names.insert(value.name);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kNoValue) continue;
    Value value = branch.values[i];
    // Both branches, and several choices made from one template, may use the same names.
    const std::string name = value.name;
    for (int k = 2; !names.insert(value.name).second; ++k) value.name = name + "_" + std::to_string(k);
    graph.values.push_back(std::move(value));
    ids[i] = static_cast<ValueId>(graph.values.size() - 1);
  }
  return ids;
}

void rename(std::vector<ValueId>& values, const std::vector<ValueId>& ids) {
  for (ValueId& id : values) {
    if (id != kNoValue) id = ids[id];
  }
}

}  // namespace

bool has_known_branch(const Graph& graph, const Node& node) {
  return dynamic_cast<const If*>(node.op.get()) != nullptr && graph.constant(node.inputs[0]) != nullptr;
}

std::vector<Node> inline_branch(Graph& graph, const Node& node) {
  const If& choice = dynamic_cast<const If&>(*node.op);
  const bool condition = If::is_true(*graph.constant(node.inputs[0]));
  const Graph& branch = choice.branch(condition);
  const std::vector<ValueId> ids = add_values(graph, node, choice, condition);
  std::vector<Node> nodes = branch.nodes;
  for (Node& inner : nodes) {
    rename(inner.inputs, ids);
    rename(inner.outputs, ids);
  }
  // A branch may well output what it took, or a constant; remove_identities() takes out the copies that need
  // not be.
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    nodes.push_back({node.name, std::make_shared<Identity>(), {ids[branch.outputs[i]]}, {node.outputs[i]}});
  }
  return nodes;
}

}  // namespace vellum

#include "passes/shapes/inline_branch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/operators/control/branch.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "passes/rewrite/inline_graph.hpp"
#include "passes/rewrite/match.hpp"
#include "passes/shapes/unroll_loop.hpp"

namespace vellum {
namespace {

// Makes the result of an Identity of a constant this constant.
void copy_constant(Graph& graph, GraphEditor& editor, size_t index) {
  const HostTensor& constant = *editor.constant_input(index, 0);
  Value& result = graph.values[editor.node(index).outputs[0]];
  result.constant = constant;
  result.type = constant.type();
  result.type_known = true;
  editor.remove(index);
}

}  // namespace

bool has_known_branch(const GraphEditor& editor, size_t index) {
  return match_node<If>(editor, index) && editor.constant_input(index, 0) != nullptr;
}

void inline_branch(GraphEditor& editor, size_t index, FoldingSpent& spent) {
  const Node node = editor.node(index);
  const If& choice = dynamic_cast<const If&>(*node.op);
  const bool condition = If::is_true(*editor.constant(node.inputs[0]));
  const Graph& branch = choice.branch(condition);
  spend_nodes(editor, node, branch.nodes.size() + node.outputs.size(), spent);
  std::vector<ValueId> values(branch.values.size(), kNoValue);
  for (size_t i = 0; i < branch.inputs.size(); ++i)
    values[branch.inputs[i]] = node.inputs[choice.first_input(condition) + i];
  inline_graph(editor, index, branch, std::move(values));
}

std::vector<std::string> branch_inputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs)
    if (std::ranges::any_of(graph.nodes, [&](const Node& node) {
          return dynamic_cast<const If*>(node.op.get()) && node.inputs[0] == id;
        }))
      names.push_back(graph.values[id].name);
  return names;
}

void choose_branches(Graph& graph, const InputTensors& values) {
  for (const ValueId id : graph.inputs)
    if (const auto found = values.find(graph.values[id].name); found != values.end())
      graph.values[id].constant = found->second;
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (has_known_branch(editor, index)) {
      inline_branch(editor, index, graph.folding);  // its nodes are visited next
      continue;
    }
    const auto copy = match_node<Identity>(editor, index);
    if (copy && editor.constant_input(index, 0)) copy_constant(graph, editor, index);
  }
  editor.commit();
  for (const ValueId id : graph.inputs)
    if (values.contains(graph.values[id].name)) graph.values[id].constant.reset();
}

}  // namespace vellum

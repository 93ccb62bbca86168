#include "passes/shapes/inline_branch.hpp"

#include <utility>
#include <vector>

#include "graph/operators/control/branch.hpp"
#include "passes/rewrite/inline_graph.hpp"
#include "passes/rewrite/match.hpp"
#include "passes/shapes/unroll_loop.hpp"

namespace vellum {

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

}  // namespace vellum

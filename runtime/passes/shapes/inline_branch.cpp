#include "passes/shapes/inline_branch.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "graph/operators/branch.hpp"
#include "graph/operators/reshape.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The values of the branch in the graph, by their id in the branch. Those that are no inputs are new.
std::vector<ValueId> add_values(GraphEditor& editor, const Graph& branch, std::span<const ValueId> inputs) {
  std::vector<ValueId> ids(branch.values.size(), kNoValue);
  for (size_t i = 0; i < branch.inputs.size(); ++i) ids[branch.inputs[i]] = inputs[i];
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == kNoValue) ids[i] = editor.add_value(branch.values[i]);
  return ids;
}

void renumber(std::vector<ValueId>& values, const std::vector<ValueId>& ids) {
  for (ValueId& id : values)
    if (id != kNoValue) id = ids[id];
}

}  // namespace

bool has_known_branch(const GraphEditor& editor, size_t index) {
  return match_node<If>(editor, index) && editor.constant_input(index, 0) != nullptr;
}

void inline_branch(GraphEditor& editor, size_t index) {
  const Node node = editor.node(index);
  const If& choice = dynamic_cast<const If&>(*node.op);
  const bool condition = If::is_true(*editor.constant(node.inputs[0]));
  const Graph& branch = choice.branch(condition);
  const std::span<const ValueId> inputs = node.inputs;
  const std::vector<ValueId> ids = add_values(editor, branch, inputs.subspan(choice.first_input(condition)));
  size_t last = index;
  for (Node inner : branch.nodes) {
    renumber(inner.inputs, ids);
    renumber(inner.outputs, ids);
    last = editor.insert_after(last, std::move(inner));
  }
  // A branch may output its input or a constant; remove_identities() removes the copies that are not needed.
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue)
      last = editor.insert_after(
          last, {node.name, std::make_shared<Identity>(), {ids[branch.outputs[i]]}, {node.outputs[i]}});
  editor.remove(index);
}

}  // namespace vellum

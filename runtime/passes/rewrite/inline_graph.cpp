#include "passes/rewrite/inline_graph.hpp"

#include <memory>
#include <utility>

#include "graph/operators/movement/reshape.hpp"

namespace vellum {
namespace {

void renumber(std::vector<ValueId>& values, const std::vector<ValueId>& ids) {
  for (ValueId& id : values)
    if (id != kNoValue) id = ids[id];
}

}  // namespace

size_t insert_nodes(GraphEditor& editor, size_t index, const Graph& inner, std::vector<ValueId>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == kNoValue) values[i] = editor.add_value(inner.values[i]);
  size_t last = index;
  for (Node copy : inner.nodes) {
    renumber(copy.inputs, values);
    renumber(copy.outputs, values);
    last = editor.insert_after(last, std::move(copy));
  }
  return last;
}

void inline_graph(GraphEditor& editor, size_t index, const Graph& inner, std::vector<ValueId> values) {
  const Node node = editor.node(index);
  size_t last = insert_nodes(editor, index, inner, values);
  // A graph may output its input or a constant; remove_identities() removes the copies that are not needed.
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue)
      last = editor.insert_after(
          last, {node.name, std::make_shared<Identity>(), {values[inner.outputs[i]]}, {node.outputs[i]}});
  editor.remove(index);
}

}  // namespace vellum

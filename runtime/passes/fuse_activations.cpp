#include <optional>

#include "graph/unary.hpp"
#include "passes/editor.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

void fuse_into_producer(GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs[0] == kNoValue) return;
  const ValueId input = node.inputs[0], output = node.outputs[0];
  const DType dtype = editor.type(output).dtype;
  if (dtype != DType::f32 && dtype != DType::f16) return;
  const auto activation = as_activation(*node.op, operator_inputs(editor.graph(), node));
  const auto source = editor.producer(input);
  if (!activation || !source || editor.only_reader(input) != index) return;
  if (editor.node(*source).outputs.size() != 1 || editor.type(input) != editor.type(output)) return;
  if (auto fused = editor.node(*source).op->with_activation(*activation)) {
    editor.remove(index);
    editor.set_operator(*source, std::move(fused));
    editor.take_output(*source, output);
  }
}

}  // namespace

void fuse_activations(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) fuse_into_producer(editor, i);
  editor.commit();
}

}  // namespace vellum

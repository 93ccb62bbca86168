#include <cmath>
#include <optional>

#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

// value = scale * input + shift, as an activation that does nothing else.
std::optional<Applied> undo_scaling(const GraphEditor& editor, ValueId value) {
  const auto step = undo_scalar(editor, value);
  if (!step || !std::isfinite(step->scalar)) return std::nullopt;
  Applied scaling{{}, step->input};
  (step->kind == BinaryKind::mul ? scaling.activation.scale : scaling.activation.shift) =
      static_cast<float>(step->scalar);
  return scaling;
}

void fuse_into_producer(GraphEditor& editor, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  if (output == kNoValue || editor.node(index).inputs.empty() || !is_float_value(editor, output)) return;
  auto applied = undo_activation(editor, output);
  if (!applied) applied = undo_scaling(editor, output);
  if (!applied || applied->input == kNoValue) return;
  const auto source = editor.producer(applied->input);
  if (!source || editor.only_reader(applied->input) != index) return;
  if (editor.node(*source).outputs.size() != 1 || editor.type(applied->input) != editor.type(output)) return;
  if (auto fused = editor.node(*source).op->with_activation(applied->activation)) {
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

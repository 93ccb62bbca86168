#include <cmath>
#include <optional>

#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// value = scale * input + shift, as an activation that does nothing else.
std::optional<AppliedActivation> match_scaling(const GraphEditor& editor, ValueId value) {
  const auto step = match_scalar(editor, value);
  if (!step || !std::isfinite(step->scalar)) return std::nullopt;
  AppliedActivation scaling{{}, step->input};
  (step->kind == BinaryKind::mul ? scaling.activation.scale : scaling.activation.shift) =
      static_cast<float>(step->scalar);
  return scaling;
}

bool only_moves_elements(const GraphEditor& editor, size_t index) {
  return match_node<ReshapeFamily>(editor, index) || match_node<Transpose>(editor, index);
}

void fuse_into_producer(GraphEditor& editor, size_t index) {
  const ValueId output = editor.node(index).outputs[0];
  if (output == kNoValue || editor.node(index).inputs.empty() || !is_float_value(editor, output)) return;
  auto applied = match_activation(editor, output);
  if (!applied) applied = match_scaling(editor, output);
  if (!applied || applied->input == kNoValue) return;
  const auto last = editor.producer(applied->input);  // computes the activation's output afterwards
  if (!last || editor.only_reader(applied->input) != index) return;
  if (editor.node(*last).outputs.size() != 1 || editor.type(applied->input) != editor.type(output)) return;
  auto source = last;
  while (source && only_moves_elements(editor, *source)) {
    const ValueId moved = editor.node(*source).inputs[0];
    if (editor.only_reader(moved) != *source) return;
    source = editor.producer(moved);
  }
  if (!source || editor.node(*source).outputs.size() != 1) return;
  if (auto fused = editor.node(*source).op->with_activation(applied->activation)) {
    editor.remove(index);
    editor.set_operator(*source, std::move(fused));
    editor.set_outputs(*last, {output});
  }
}

}  // namespace

void fuse_activations(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_into_producer(editor, index);
  editor.commit();
}

}  // namespace vellum

#include <algorithm>
#include <memory>

#include "graph/operators/conv.hpp"
#include "graph/operators/pad.hpp"
#include "passes/rewrite/editor.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

// Only a Conv pads with zeros that its sum then counts: a MaxPool pads with what loses every comparison, and
// an AveragePool may leave its padding out of the divisor.
bool pads_spatial_zeros(const GraphEditor& editor, const Node& node, const Pad& pad, PadAmounts& amounts) {
  const auto inputs = operator_inputs(editor.graph(), node);
  const bool known_value = inputs.size() < 3 || !inputs[2].present || inputs[2].constant != nullptr;
  if (pad.mode != PadMode::constant || !known_value || pad.padding_value(inputs).to_floats()[0] != 0.0f)
    return false;
  amounts = pad.amounts(inputs);
  const auto cropped = [](int64_t amount) { return amount < 0; };
  if (std::any_of(amounts.begin.begin(), amounts.begin.end(), cropped)) return false;
  if (std::any_of(amounts.end.begin(), amounts.end.end(), cropped)) return false;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (amounts.begin[axis] != 0 || amounts.end[axis] != 0) return false;
  }
  return true;
}

void fuse_into_conv(GraphEditor& editor, size_t index) {
  const auto* conv = dynamic_cast<const Conv*>(editor.node(index).op.get());
  if (conv == nullptr ||
      (conv->window.auto_pad != AutoPad::notset && conv->window.auto_pad != AutoPad::valid))
    return;
  const auto source = editor.producer(editor.node(index).inputs[0]);
  const auto* pad = source ? dynamic_cast<const Pad*>(editor.node(*source).op.get()) : nullptr;
  PadAmounts amounts;
  if (pad == nullptr || !pads_spatial_zeros(editor, editor.node(*source), *pad, amounts)) return;

  const size_t spatial = amounts.begin.size() - 2;
  auto padded = std::make_shared<Conv>(*conv);
  auto& pads = padded->window.pads;
  if (pads.empty() || conv->window.auto_pad == AutoPad::valid) pads.assign(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    pads[i] += amounts.begin[i + 2];
    pads[i + spatial] += amounts.end[i + 2];
  }
  padded->window.auto_pad = AutoPad::notset;
  auto inputs = editor.node(index).inputs;
  inputs[0] = editor.node(*source).inputs[0];
  editor.set_operator(index, std::move(padded));
  editor.set_inputs(index, std::move(inputs));
}

}  // namespace

void fuse_pad(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) fuse_into_conv(editor, i);
  editor.commit();
}

}  // namespace vellum

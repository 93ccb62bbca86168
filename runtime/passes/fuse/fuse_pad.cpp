#include <algorithm>
#include <memory>

#include "graph/operators/conv/conv.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Whether nothing is cropped, and nothing padded but spatial dimensions.
bool pads_space(const PadAmounts& amounts) {
  const auto is_negative = [](int64_t amount) { return amount < 0; };
  for (const Ints* side : {&amounts.begin, &amounts.end})
    if (std::any_of(side->begin(), side->end(), is_negative) || (*side)[0] != 0 || (*side)[1] != 0)
      return false;
  return true;
}

// Conv alone: a MaxPool pads with the lowest value, and an AveragePool may leave its padding out of the
// divisor.
void fuse_into_conv(GraphEditor& editor, size_t index) {
  const auto conv = match_node<Conv>(editor, index);
  if (!conv || (conv->window.auto_pad != AutoPad::notset && conv->window.auto_pad != AutoPad::valid)) return;
  const auto pad = match_zero_pad(editor, conv.input(0));
  if (!pad || !pads_space(pad->amounts)) return;

  const size_t spatial = pad->amounts.begin.size() - 2;
  auto padded = std::make_shared<Conv>(*conv.op);
  auto& pads = padded->window.pads;
  if (pads.empty() || conv->window.auto_pad == AutoPad::valid) pads.assign(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    pads[i] += pad->amounts.begin[i + 2];
    pads[i + spatial] += pad->amounts.end[i + 2];
  }
  padded->window.auto_pad = AutoPad::notset;
  auto inputs = conv.node->inputs;
  inputs[0] = pad->input;
  editor.replace(index, std::move(padded), std::move(inputs));
}

}  // namespace

void fuse_pad(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) fuse_into_conv(editor, index);
  editor.commit();
}

}  // namespace vellum

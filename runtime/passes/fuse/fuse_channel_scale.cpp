#include <algorithm>
#include <memory>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "passes/fuse/channel_scale.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

bool all_equal(const Ints& values, int64_t expected) {
  return std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == expected; });
}

// Matches a product of floats. It may be rounded, but its activation does nothing else.
Match<Binary> match_product(const GraphEditor& editor, size_t index) {
  const auto product = match_node<Binary>(editor, index);
  if (!product || product->kind != BinaryKind::mul || product->fixed_point) return {};
  const Activation& activation = product->activation;
  if ((activation && !activation.only_rounds()) || activation.bounds_sum()) return {};
  return is_float_value(editor, product.node->outputs[0]) ? product : Match<Binary>{};
}

// Replaces the Conv at `index` by one that rounds its scaled input.
void round_scaled_input(GraphEditor& editor, size_t index, const Activation& rounding) {
  auto conv = std::make_shared<Conv>(dynamic_cast<const Conv&>(*editor.node(index).op));
  conv->scaling = rounding;
  editor.replace(index, std::move(conv), editor.node(index).inputs);
}

void fuse_into_reader(GraphEditor& editor, size_t index, const Activation& rounding) {
  const ValueId product = editor.node(index).outputs[0];
  const auto reader = editor.only_reader(product);
  if (!reader || editor.node(*reader).inputs[0] != product ||
      !can_scale_input(editor, *reader, rounding.is_rounded()))
    return;
  for (const size_t slot : {0u, 1u}) {
    const ValueId x = editor.node(index).inputs[slot], scale = editor.node(index).inputs[1 - slot];
    if (editor.type(x) != editor.type(product) || !is_channel_scale(editor, scale, x)) continue;
    auto inputs = editor.node(*reader).inputs;
    inputs.resize(4, kNoValue);
    inputs[0] = x;
    inputs.push_back(scale);
    editor.remove(index);
    editor.set_inputs(*reader, std::move(inputs));
    if (rounding) round_scaled_input(editor, *reader, rounding);
    return;
  }
}

}  // namespace

bool can_scale_input(const GraphEditor& editor, size_t index, bool rounds) {
  const auto conv = match_node<Conv>(editor, index);
  if (!conv || conv->group != 1 || conv.node->inputs.size() > 4 || (rounds && conv->fixed_point))
    return false;
  const Shape& x = editor.type(conv.input(0)).shape;
  const HostTensor* weights = editor.constant(conv.input(1));
  if (weights == nullptr || x.size() > 4 || product(weights->shape(), 2, x.size()) != 1) return false;
  const WindowPlacement window = conv->place(operator_inputs(editor.graph(), *conv.node));
  return window.input == window.output && all_equal(window.strides, 1) && all_equal(window.pads_begin, 0);
}

bool is_channel_scale(const GraphEditor& editor, ValueId scale, ValueId x) {
  Shape shape = editor.type(x).shape;
  if (shape.size() < 3 || product(shape, 2, shape.size()) == 1 || editor.constant(scale)) return false;
  std::fill(shape.begin() + 2, shape.end(), 1);
  return editor.type(scale) == TensorType{editor.type(x).dtype, shape};
}

void fuse_channel_scale(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes())
    if (const auto product = match_product(editor, index))
      fuse_into_reader(editor, index, Activation(product->activation));
  editor.commit();
}

}  // namespace vellum

#include <algorithm>

#include "graph/operators/binary.hpp"
#include "graph/operators/conv.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

// Whether the Conv's kernel takes factors for its input's channels: that of one pixel, of all channels.
bool takes_scale(const GraphEditor& editor, const Node& node) {
  const auto* conv = dynamic_cast<const Conv*>(node.op.get());
  if (conv == nullptr || conv->group != 1 || node.inputs.size() > 4) return false;
  const Shape& x = editor.type(node.inputs[0]).shape;
  const HostTensor* weights = editor.constant(node.inputs[1]);
  if (weights == nullptr || x.size() > 4 || product(weights->shape(), 2, x.size()) != 1) return false;
  const WindowPlacement window = conv->place(operator_inputs(editor.graph(), node));
  return window.input == window.output &&
         std::all_of(window.strides.begin(), window.strides.end(), [](int64_t step) { return step == 1; }) &&
         std::all_of(window.pads_begin.begin(), window.pads_begin.end(),
                     [](int64_t pad) { return pad == 0; });
}

bool is_scale_of(const GraphEditor& editor, ValueId scale, ValueId x) {
  Shape shape = editor.type(x).shape;
  if (shape.size() < 3 || product(shape, 2, shape.size()) == 1 || editor.constant(scale)) return false;
  std::fill(shape.begin() + 2, shape.end(), 1);
  return editor.type(scale) == TensorType{editor.type(x).dtype, shape};
}

void fuse_scale(GraphEditor& editor, size_t index) {
  const ValueId product = editor.node(index).outputs[0];
  const auto reader = editor.only_reader(product);
  if (!reader || editor.node(*reader).inputs[0] != product || !takes_scale(editor, editor.node(*reader)))
    return;
  for (const size_t slot : {0u, 1u}) {
    const ValueId x = editor.node(index).inputs[slot], scale = editor.node(index).inputs[1 - slot];
    if (editor.type(x) != editor.type(product) || !is_scale_of(editor, scale, x)) continue;
    auto inputs = editor.node(*reader).inputs;
    inputs.resize(4, kNoValue);
    inputs[0] = x;
    inputs.push_back(scale);
    editor.remove(index);
    editor.set_inputs(*reader, std::move(inputs));
    return;
  }
}

}  // namespace

void fuse_channel_scale(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    const auto* mul = editor.removed(i) ? nullptr : dynamic_cast<const Binary*>(editor.node(i).op.get());
    if (mul == nullptr || mul->kind != BinaryKind::mul || mul->activation) continue;
    if (is_float_value(editor, editor.node(i).outputs[0])) fuse_scale(editor, i);
  }
  editor.commit();
}

}  // namespace vellum

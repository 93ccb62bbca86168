#include "compile/match_depthwise.hpp"

#include "kernels/conv/window.hpp"

namespace vellum {

bool has_constant_weights(const GraphEditor& editor, const Node& conv) {
  return editor.constant(conv.inputs[1]) != nullptr && is_constant_or_absent(editor, conv, 2);
}

bool is_depthwise(const GraphEditor& editor, const Match<Conv>& conv) {
  const Shape& x = editor.type(conv.input(0)).shape;
  return x.size() <= 4 && conv->group > 1 && conv->group == x[1] && conv.node->inputs.size() <= 3 &&
         editor.type(conv.input(1)).shape[0] == x[1] && has_constant_weights(editor, *conv.node);
}

bool is_product(const GraphEditor& editor, const Match<Conv>& conv) {
  return conv->group == 1 && input_or_none(*conv.node, 4) == kNoValue &&
         has_constant_weights(editor, *conv.node) &&
         is_pointwise(to_2d(conv->place(operator_inputs(editor.graph(), *conv.node))));
}

ValueId input_or_none(const Node& node, size_t slot) {
  return slot < node.inputs.size() ? node.inputs[slot] : kNoValue;
}

}  // namespace vellum

#include "compile/match_depthwise.hpp"

namespace vellum {

bool has_constant_weights(const GraphEditor& editor, const Node& conv) {
  return editor.constant(conv.inputs[1]) != nullptr && is_constant_or_absent(editor, conv, 2);
}

bool is_depthwise(const GraphEditor& editor, const Match<Conv>& conv) {
  const Shape& x = editor.type(conv.input(0)).shape;
  return x.size() <= 4 && conv->group > 1 && conv->group == x[1] && conv.node->inputs.size() <= 3 &&
         editor.type(conv.input(1)).shape[0] == x[1] && has_constant_weights(editor, *conv.node);
}

}  // namespace vellum

#include "kernels/fused/matching.hpp"

#include "kernels/conv/result_table.hpp"

namespace vellum {

bool has_fusible_weights(const GraphEditor& editor, const Node& conv) {
  return editor.constant(conv.inputs[1]) != nullptr && is_constant_or_absent(editor, conv, 2) &&
         !dynamic_cast<const Conv&>(*conv.op).fixed_point;
}

bool is_depthwise(const GraphEditor& editor, const Match<Conv>& conv) {
  const Shape& x = editor.type(conv.input(0)).shape;
  return x.size() <= 4 && conv->channel_taps.empty() && conv->group > 1 && conv->group == x[1] &&
         conv.node->inputs.size() <= 3 && editor.type(conv.input(1)).shape[0] == x[1] &&
         has_fusible_weights(editor, *conv.node);
}

bool is_product(const GraphEditor& editor, const Match<Conv>& conv) {
  return conv->group == 1 && input_or_none(*conv.node, 4) == kNoValue &&
         has_fusible_weights(editor, *conv.node) && is_pointwise(window_of(editor, conv));
}

Match<ByteTable> match_table_of_layer(const GraphEditor& editor, size_t index) {
  const auto table = match_node<ByteTable>(editor, index);
  if (!table) return {};
  const HostTensor* entries = editor.constant(table.input(1));
  const auto conv = match_producer<Conv>(editor, table.input(0));
  const bool matches = entries && entries->elements() == ByteTable::kEntries && conv &&
                       editor.only_reader(table.input(0)) == index &&
                       has_fusible_weights(editor, *conv.node) &&
                       rounds_to_numbers_of(*table.op, conv->activation);
  return matches ? table : Match<ByteTable>{};
}

bool is_read_by_table(const GraphEditor& editor, ValueId value) {
  const auto reader = editor.only_reader(value);
  return reader && match_table_of_layer(editor, *reader);
}

Window2d window_of(const GraphEditor& editor, const Match<Conv>& conv) {
  return to_2d(conv->place(operator_inputs(editor.graph(), *conv.node)));
}

ValueId input_or_none(const Node& node, size_t slot) {
  return slot < node.inputs.size() ? node.inputs[slot] : kNoValue;
}

std::vector<ValueId> inputs_or_none(const Node& node, size_t first, size_t count) {
  std::vector<ValueId> inputs;
  for (size_t slot = first; slot < first + count; ++slot) inputs.push_back(input_or_none(node, slot));
  return inputs;
}

}  // namespace vellum

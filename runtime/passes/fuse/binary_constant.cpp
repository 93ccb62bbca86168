#include "passes/fuse/binary_constant.hpp"

namespace vellum {

std::optional<BinaryConstant> as_binary_constant(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const auto* op = dynamic_cast<const Binary*>(node.op.get());
  if (op == nullptr || op->activation || node.inputs.size() != 2) return std::nullopt;
  const DType dtype = editor.type(node.outputs[0]).dtype;
  if (dtype != DType::f32 && dtype != DType::f16) return std::nullopt;
  for (size_t slot = 0; slot < 2; ++slot) {
    const HostTensor* constant = editor.constant_input(index, 1 - slot);
    if (constant == nullptr || editor.constant_input(index, slot) != nullptr) continue;
    if (editor.type(node.inputs[slot]) != editor.type(node.outputs[0])) continue;
    return BinaryConstant{op, slot, constant};
  }
  return std::nullopt;
}

void absorb_binary_constants(Graph& graph, AffineOf affine_of) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    const auto binary = as_binary_constant(editor, i);
    if (!binary) continue;
    const auto affine = affine_of(*binary, editor.type(editor.node(i).outputs[0]).shape);
    if (affine) absorb(editor, i, binary->data_slot, *affine);
  }
  editor.commit();
}

}  // namespace vellum

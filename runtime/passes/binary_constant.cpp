#include "passes/binary_constant.hpp"

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

}  // namespace vellum

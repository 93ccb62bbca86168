#include "graph/operators/control/sequence.hpp"

namespace vellum {

std::vector<TensorType> SequenceOperator::infer(Inputs) const {
  refuse_unsupported("which tensors the sequence holds is known only at run time");
}

std::vector<HostTensor> SequenceOperator::evaluate(HostInputs) const {
  refuse_unsupported("sequences exist only until the shapes of the model are known");
}

std::shared_ptr<const Operator> make_sequence_operator(const NodeSpec& spec) {
  auto op = std::make_shared<SequenceOperator>();
  op->onnx_type = spec.type;
  op->onnx_attributes = *spec.attributes;
  if (spec.type == "SequenceEmpty") spec.attributes->ignore("dtype");
  if (spec.type == "SplitToSequence") {
    op->axis = spec.attributes->get_int("axis", 0);
    op->keep_axis = get_flag(*spec.attributes, "keepdims", true) || spec.has_input(1);
  }
  if (spec.type == "ConcatFromSequence") {
    if (!spec.attributes->has("axis")) refuse_model("attribute 'axis' is missing");
    op->axis = spec.attributes->get_int("axis", 0);
    op->new_axis = get_flag(*spec.attributes, "new_axis", false);
  }
  return op;
}

}  // namespace vellum

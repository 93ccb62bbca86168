// Operators on sequences of tensors. https://onnx.ai/onnx/operators/onnx__SequenceConstruct.html,
// onnx__SequenceEmpty.html, onnx__SequenceInsert.html, onnx__SequenceErase.html, onnx__SequenceAt.html,
// onnx__SequenceLength.html, onnx__SplitToSequence.html, onnx__ConcatFromSequence.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// infer_shapes_and_fold() tracks the tensors in each sequence and replaces the node by operators on these
// tensors. A node is refused if only a run determines its sequence.
struct SequenceOperator : Operator {
  std::string onnx_type;
  int64_t axis = 0;       // for SplitToSequence and ConcatFromSequence
  bool new_axis = false;  // ConcatFromSequence: stacks the tensors along a new axis
  bool keep_axis = true;  // SplitToSequence without sizes
  Attributes onnx_attributes;

  std::string_view type() const override { return onnx_type; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override { return onnx_attributes; }
};

}  // namespace vellum

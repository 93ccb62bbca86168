// Running sums and reversals along an axis. https://onnx.ai/onnx/operators/onnx__CumSum.html,
// onnx__ReverseSequence.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs x, axis (a scalar).
struct CumSum : Operator {
  bool exclusive = false;  // a sum excludes the element itself
  bool reverse = false;    // sums begin at the end

  std::string_view type() const override { return "CumSum"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs input, sequence_lens. For each batch, reverses the first sequence_lens[batch] elements along the
// time axis. Any dtype.
struct ReverseSequence : Operator {
  int64_t batch_axis = 1, time_axis = 0;

  std::string_view type() const override { return "ReverseSequence"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// A strided view of a tensor, copied: what several operators that move elements compute together.
#pragma once

#include "graph/operators/matmul/attention.hpp"

namespace vellum {

// Input X of any shape and type. Element (i, j, ...) of the output is the element of X at view.offset + i *
// view.strides[0] + j * view.strides[1] + ..., counted in row-major order. Named after torch.as_strided. Not
// an ONNX operator: the pass merge_moves makes it.
struct AsStrided : Operator {
  static constexpr size_t kMostDimensions = 12;

  StridedView view;

  std::string_view type() const override { return "AsStrided"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

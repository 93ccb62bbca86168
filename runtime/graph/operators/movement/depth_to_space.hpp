// Moves blocks of space into channels and back. https://onnx.ai/onnx/operators/onnx__DepthToSpace.html,
// onnx__SpaceToDepth.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// (N, C, H, W) -> (N, C / b², H * b, W * b). Any dtype. The input channel of block position (by, bx) and
// output channel c is
//   depth first (DCR)    (by * b + bx) * C / b² + c
//   column first (CRD)   (c * b + by) * b + bx
struct DepthToSpace : Operator {
  int64_t block = 1;
  bool column_first = false;  // mode CRD

  std::string_view type() const override { return "DepthToSpace"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

// (N, C, H, W) -> (N, C * b², H / b, W / b): the inverse of DepthToSpace in the same mode. Any dtype.
struct SpaceToDepth : Operator {
  int64_t block = 1;
  bool column_first = false;  // mode CRD

  std::string_view type() const override { return "SpaceToDepth"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

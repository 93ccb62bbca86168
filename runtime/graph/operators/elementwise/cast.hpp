// Conversion of element types. https://onnx.ai/onnx/operators/onnx__Cast.html, onnx__CastLike.html
#pragma once

#include "graph/narrow_types.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// CastLike is a Cast to the dtype of input 1.
struct Cast : Operator {
  std::optional<DType> to;  // default: the dtype of input 1
  // Rounds to the values of this narrow type, which is stored as `to`. Null: rounds to the values of `to`.
  const NarrowType* narrow = nullptr;
  bool saturate = true;  // 8-bit floats: values beyond the largest number become that number

  std::string_view type() const override { return to ? "Cast" : "CastLike"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

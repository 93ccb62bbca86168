// Strided slices. https://onnx.ai/onnx/operators/onnx__Slice.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// One entry per dimension of the data: output index i reads starts + i * steps.
struct SliceRange {
  Ints starts, steps;
  Shape output;
};

// starts, ends, axes and steps are attributes (opset < 10, no steps) or inputs 1 to 4. Any dtype.
struct Slice : Operator {
  std::optional<Ints> starts, ends, axes;

  SliceRange range(Inputs inputs) const;

  std::string_view type() const override { return "Slice"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

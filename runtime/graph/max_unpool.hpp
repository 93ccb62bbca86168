// https://onnx.ai/onnx/operators/onnx__MaxUnpool.html
#pragma once

#include "graph/operator_support.hpp"
#include "graph/window.hpp"

namespace vellum {

// Inputs X (N, C, spatial...), I (X's shape, int64: MaxPool's indices), output_shape (optional). Zero but
// where I points. With output_shape, I still counts in the shape that the window gives.
struct MaxUnpool : Operator {
  Window window;

  // The output's shape as the window alone gives it.
  Shape natural_shape(Inputs inputs) const;

  std::string_view type() const override { return "MaxUnpool"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// Softmax and its relatives. https://onnx.ai/onnx/operators/onnx__Softmax.html, onnx__LogSoftmax.html,
// onnx__Hardmax.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class SoftmaxKind : uint8_t { softmax, log_softmax, hardmax };

// Normalises along `axis`. With `flatten` (before opset 13) it normalises over all dimensions from `axis` on,
// as if the input were flattened to two dimensions.
struct Softmax : Operator {
  SoftmaxKind kind = SoftmaxKind::softmax;
  int64_t axis = -1;
  bool flatten = false;

  // The input as outer x length x inner: sums run over `length`.
  struct Extent {
    int64_t outer, length, inner;
  };
  Extent extent(const Shape& shape) const;

  std::string_view type() const override;
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

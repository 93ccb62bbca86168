// https://onnx.ai/onnx/operators/onnx__MatMul.html, onnx__Gemm.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs A and B of one dtype, as numpy.matmul: the last two dimensions multiply, those before broadcast; a
// vector on the left is a row, on the right a column, and that dimension is dropped.
struct MatMul : Operator {
  // The last two dimensions of an input exchanged first, which then has two at least. Only
  // passes/fuse_transposes makes such a MatMul.
  bool transpose_a = false, transpose_b = false;

  // The shapes with vectors made matrices and transposed: batch dimensions broadcast together, then M x K
  // times K x N.
  struct Extent {
    Shape a, b, batch;
    int64_t m, k, n;
  };
  Extent extent(Inputs inputs) const;

  std::string_view type() const override { return "MatMul"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override;
};

// Inputs A, B (matrices), C (optional, broadcasts to the result): alpha * A' B' + beta * C, and a residual of
// the result's shape that is added before the activation. Only passes/fuse_residual makes such a Gemm.
struct Gemm : Operator {
  float alpha = 1.0f, beta = 1.0f;
  bool transpose_a = false, transpose_b = false;
  Activation activation;

  std::string_view type() const override { return "Gemm"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

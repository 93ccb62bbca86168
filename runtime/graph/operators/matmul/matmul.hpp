// Matrix products. https://onnx.ai/onnx/operators/onnx__MatMul.html, onnx__Gemm.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs A and B of one dtype, as in numpy.matmul: the last two dimensions are matrices, earlier dimensions
// broadcast. A vector is a row on the left and a column on the right; the result lacks that dimension.
struct MatMul : Operator {
  // Exchange the last two dimensions of an input, which must have at least two, before the product. Only the
  // pass fuse_transposes sets these.
  bool transpose_a = false, transpose_b = false;
  // A factor of the product of floats. The pass scale_products sets it, and the importer of TFLite files for
  // products of 16-bit tensors.
  float alpha = 1.0f;

  // The shapes with vectors as matrices and transposes applied: M x K times K x N for each element of the
  // broadcast batch dimensions.
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

// Inputs A, B (matrices), C (optional, broadcasts to the result): alpha * A' B' + beta * C. Input 3 is a
// residual of the result's shape, or of a single row that is added to all rows, before the activation; only
// the pass fuse_residual adds this input.
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

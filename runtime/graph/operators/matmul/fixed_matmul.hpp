// The product of two computed tensors of a quantised TFLite model in integers, as LiteRT's reference kernel
// computes it: BatchMatMul() in tflite/kernels/internal/reference/batch_matmul.h.
#pragma once

#include "graph/operators/matmul/matmul.hpp"

namespace vellum {

// Inputs A and B of floats, integers times their steps, in the shapes of `product`, whose factor is 1. The
// result is multiply(sum, fixed_point.y) * y_step after the activation, where `sum` is that of the products
// of the integers, which kernels add up exactly to 2^24. Not an ONNX operator: the importer of TFLite files makes it.
struct FixedMatMul : Operator {
  MatMul product;
  FixedPair fixed_point;
  Activation activation;
  // The activation rounds to y_step; otherwise floats are multiplied.
  bool multiplies_integers() const { return fixed_point && activation.bounds_steps_of(fixed_point.y_step); }

  std::string_view type() const override { return "FixedMatMul"; }
  std::vector<TensorType> infer(Inputs inputs) const override { return product.infer(inputs); }
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override { return product.macs(inputs); }
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

// Returns the multiplier of a product with these steps, as Prepare() in tflite/kernels/batch_matmul.cc
// computes it. Returns an empty pair if it is not below 1.
FixedPair fixed_matmul(float a_step, float b_step, float y_step);

}  // namespace vellum

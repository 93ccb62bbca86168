// MatMulNBits (com.microsoft) with weights that stay packed: a product with integers of 2, 4 or 8 bits.
#pragma once

#include "graph/operators/matmul/block_weights.hpp"

namespace vellum {

// activation(A W + bias), where W are the expanded weights. The body of MatMulNBits has this operator if the
// weights are constants in their own order; otherwise it multiplies by the expanded weights.
//   inputs  0 A (..., rows), float
//           1 to 3 integers, scales and zero points as in BlockWeights, constants
//           4 bias (columns), optional
//   output  (..., columns) of A's type
struct BlockProduct : Operator {
  BlockWeights weights;
  Activation activation;

  std::string_view type() const override { return "BlockProduct"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  std::shared_ptr<const Operator> with_activation(const Activation& added) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// A max pool and a 1x1 convolution of what it computes.
#pragma once

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/pool.hpp"

namespace vellum {

// Inputs X, W, B (optional) and residual (optional) as of Conv: y = pointwise(W pool(X) + B + residual). Not
// an ONNX operator: compile/fuse_separable.hpp makes it.
struct PoolConv : Operator {
  Pool pool;  // without indices
  Conv pointwise;

  std::string_view type() const override { return "PoolConv"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override;

  // The type of what the pool computes.
  TensorType middle(Inputs inputs) const;
};

}  // namespace vellum

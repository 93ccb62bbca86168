// TensorScatter: writes tokens into a cache. https://onnx.ai/onnx/operators/onnx__TensorScatter.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs past_cache, update, and write_indices of shape {batch}: the position along `axis` at which each
// batch's update begins. The update covers the cache in all other dimensions. The batch is dimension 0;
// `axis` is another dimension. Mode "circular", and updates without write_indices, are composed of other
// operators.
struct TensorScatter : Operator {
  int64_t axis = -2;

  // Shapes seen as (batch, outer, along the axis, inner).
  struct Extents {
    int64_t batch = 1, outer = 1, capacity = 1, tokens = 1, inner = 1;
  };
  Extents extents(const Shape& cache, const Shape& update) const;

  std::string_view type() const override { return "TensorScatter"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// CacheUpdate: writes tokens into a cache in 8 bits (graph/byte_rows.hpp).
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs cache (i32: rows of bytes), update (floats) and first_tokens of shape {batch}: the position along
// `axis` at which each batch's update begins. An update that would extend beyond the cache is not written.
// Output: the cache with the update. Not an ONNX operator: quantize_caches() makes it of TensorScatter.
struct CacheUpdate : Operator {
  int64_t axis = 2;      // of the tokens; neither the first dimension nor the last
  int64_t channels = 4;  // of a row, a multiple of four
  TensorType floats;     // the type of the cache in the model

  std::string_view type() const override { return "CacheUpdate"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

// Caches of keys and values that com.microsoft's GroupQueryAttention stores as integers with constant scales.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/composed.hpp"

namespace vellum {

// A cache (batch, head, token, channel) of integers: number = scale * integer. The scale is one number, or
// (1, head, 1, channel).
struct IntegerCache {
  int64_t bits =
      0;  // 0: the cache has floats; 8: int8; 4: uint8 with two integers plus 8, the lower bits first
  bool per_channel = false;

  explicit operator bool() const { return bits != 0; }
  bool operator==(const IntegerCache&) const = default;
};

// Reads an attribute k_quant_type or v_quant_type.
IntegerCache integer_cache(const Attributes& attributes, const char* quant_type);

// Returns floats as integers of the cache: the quotients by the scale, rounded and clamped.
ValueId to_cache_integers(Body& body, const IntegerCache& cache, ValueId floats, ValueId scale);
// Returns the numbers of the cache as floats of type `dtype`.
ValueId from_cache_integers(Body& body, const IntegerCache& cache, ValueId integers, ValueId scale,
                            DType dtype);

}  // namespace vellum

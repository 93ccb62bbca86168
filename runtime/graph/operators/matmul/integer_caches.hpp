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
// Returns the integers of the cache, which the scale is not applied to, as floats of type `dtype`: a Cast, or
// for 4 bits a Gather of the rows of nibble_table(). Attention reads packed integers in their place where the
// cache is state (pack_integer_caches()).
ValueId cache_numbers(Body& body, const IntegerCache& cache, ValueId integers, DType dtype);
// For each byte both integers of 4 bits: (256, 2).
HostTensor nibble_table(DType dtype);
struct CacheHeads {
  int64_t queries = 0, keys = 0;  // consecutive heads of queries share one of keys and values
  int64_t channels = 0;
};
// Returns `x` times the scale of the cache. `by_channel`: the shape that the scales of all channels of the
// heads of queries, (head, channel), get for the product.
ValueId times_cache_scale(Body& body, const IntegerCache& cache, ValueId x, ValueId scale,
                          const CacheHeads& heads, const Shape& by_channel);

}  // namespace vellum

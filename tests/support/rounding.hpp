// The roundings of engines, and the distance between two results.
#pragma once

#include <cstdint>
#include <string_view>

#include "vellum/tensor.hpp"

namespace vellum::test {

// The values that an engine rounds.
enum class Rounding : uint8_t {
  fp32,    // everything in float
  fp16,    // tensors and weights stored as halves, sums in float
  halves,  // sums in halves as well
};

constexpr std::string_view rounding_name(Rounding rounding) {
  return rounding == Rounding::fp32 ? "fp32" : rounding == Rounding::fp16 ? "fp16" : "halves";
}

// The distance between two tensors: the largest value and the root mean square of |difference| / max(1,
// |wanted|) over their elements.
struct Distance {
  double largest = 0;
  double root_mean_square = 0;
};

Distance distance_between(const HostTensor& got, const HostTensor& want);

}  // namespace vellum::test

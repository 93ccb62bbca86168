// Chooses ranges of tensors from the values that they had in examples. Plain functions of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vellum/quantize.hpp"

namespace vellum::quantization {

// How often values occur, in bins of equal width between `low` and `high`.
struct Histogram {
  float low = 0.0f, high = 0.0f;
  std::vector<uint64_t> counts;

  void add(std::span<const float> values);
  double width() const { return (static_cast<double>(high) - low) / static_cast<double>(counts.size()); }
  double centre(size_t bin) const { return low + (static_cast<double>(bin) + 0.5) * width(); }
};

struct Range {
  float low = 0.0f, high = 0.0f;

  void include(std::span<const float> values);  // NaN and infinities are left out
  bool operator==(const Range&) const = default;
};

// The integer of 8 bits that represents a real number is round(real / scale) + zero_point.
struct Parameters {
  float scale = 1.0f;
  int64_t zero_point = 0;
  bool operator==(const Parameters&) const = default;
};

// Returns the parameters for a range, which is widened to contain 0.
Parameters parameters_of(Range range, bool is_signed);

// Returns the part of the histogram's range that the method chooses. `percentile`: for the method of that
// name.
Range chosen_range(const Histogram& histogram, QuantizeRanges method, double percentile);

// Returns the mean squared error of the histogram's values when they are quantised to 8 bits over `range`.
double squared_error(const Histogram& histogram, const Range& range);

}  // namespace vellum::quantization

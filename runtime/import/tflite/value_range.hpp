// The real numbers that a value of a TFLite graph can have: what tells whether the integers of a quantised
// tensor clip it.
#pragma once

#include <functional>
#include <limits>

#include "graph/operator.hpp"
#include "graph/operators/elementwise/activation.hpp"

namespace vellum::tflite {

struct ValueRange {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

// The real numbers that integers of 8 bits stand for: (integer - zero point) * scale.
struct StoredRange {
  ValueRange values;
  float scale = 0.0f;
  float least = 0.0f, most = 0.0f;  // integer - zero point
};
StoredRange stored_range(DType stored, float scale, int64_t zero_point);

// Returns the range of the elements of a tensor of floats.
ValueRange range_of_elements(const HostTensor& tensor);

// Returns a range that contains all results of a float operator; the infinite one where none is known.
// input_range(i): that of its input i.
ValueRange range_of_results(const Operator& op, size_t input_count,
                            const std::function<ValueRange(size_t)>& input_range);

// Returns what clips the results of `producer` (null: of several operators), which are in `range`, as the
// integers do; nothing where that changes them by rounding at most.
Activation clipping(const StoredRange& stored, const ValueRange& range, const Operator* producer);

}  // namespace vellum::tflite

// Ranges of the real values of a TFLite graph. They show whether the integer range of a quantised tensor
// clips its values.
#pragma once

#include <functional>
#include <limits>

#include "graph/operator.hpp"
#include "graph/operators/elementwise/activation.hpp"

namespace vellum::tflite {

struct ValueRange {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

// The real values that 8-bit integers represent: (integer - zero point) * scale.
struct StoredRange {
  ValueRange values;
  float scale = 0.0f;
  float least = 0.0f, most = 0.0f;  // integer - zero point
};
StoredRange stored_range(DType stored, float scale, int64_t zero_point);

// Returns the range of the elements of a tensor of floats.
ValueRange range_of_elements(const HostTensor& tensor);

// Returns a range that contains all results of a float operator; infinite if none is known. input_range(i):
// the range of input i.
ValueRange range_of_results(const Operator& op, size_t input_count,
                            const std::function<ValueRange(size_t)>& input_range);

// Returns an activation that clips the results of `producer` as the integer range does. `range`: the range of
// the results. Returns no activation if clipping would change them only by rounding. `producer` is null for
// the results of several operators.
Activation clipping(const StoredRange& stored, const ValueRange& range, const Operator* producer);

}  // namespace vellum::tflite

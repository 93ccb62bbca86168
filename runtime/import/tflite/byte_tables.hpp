// Tables of all results for operators with one input of 8 or 16 bits, whose results LiteRT's reference
// kernels look up or compute from integers alone.
#pragma once

#include <functional>
#include <optional>

#include "import/tflite/call.hpp"

namespace vellum::tflite {

// The integers of a tensor with one scale and zero point.
struct ByteScale {
  float scale = 0.0f;
  int32_t zero = 0, low = 0, high = 255;  // zero point, smallest and largest of the stored integers
  bool has_16_bits() const { return high - low > 255; }
};
// Return nothing for other tensors. byte_scale(): of 8 bits; grid_scale(): of 8 or 16 bits.
std::optional<ByteScale> byte_scale(const Call& call, int32_t tensor);
std::optional<ByteScale> grid_scale(const Call& call, int32_t tensor);

// Returns the stored integer of y for the stored integer of x.
using ByteFunction = std::function<int32_t(int32_t)>;
// The operator, and its input 1. The results are clamped to the integers of `y`.
struct TableNode {
  std::shared_ptr<const Operator> op;
  ValueId entries = kNoValue;
};
TableNode make_table(const Call& call, const ByteScale& x, const ByteScale& y, const ByteFunction& function);

// Returns the function of an operator with one input. Returns nothing if LiteRT computes it in floats.
// byte_function() includes functions of 16 bits (short_functions.hpp).
std::optional<ByteFunction> byte_function(const Call& call, const ByteScale& x, const ByteScale& y);
// Return the function that converts integers of the scale x to integers of the scale y: for QUANTIZE, and for
// an input of CONCATENATION.
ByteFunction requantise(const ByteScale& x, const ByteScale& y);
ByteFunction requantise_to_join(const ByteScale& x, const ByteScale& y);

}  // namespace vellum::tflite

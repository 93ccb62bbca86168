// Operators of one quantised tensor whose results LiteRT's reference kernels look up, or compute from
// integers alone: each has a table of its 256 results.
#pragma once

#include <functional>
#include <optional>

#include "import/tflite/call.hpp"

namespace vellum::tflite {

// The integers of an 8-bit tensor with one scale and zero point.
struct ByteScale {
  float scale = 0.0f;
  int32_t zero = 0, low = 0, high = 255;  // of the integers that are stored
};
std::optional<ByteScale> byte_scale(const Call& call, int32_t tensor);

// Returns the stored integer of y for the stored integer of x.
using ByteFunction = std::function<int32_t(int32_t)>;
// The operator, and its input 1. The results are clamped to the integers of `y`.
struct TableNode {
  std::shared_ptr<const Operator> op;
  ValueId entries = kNoValue;
};
TableNode make_table(const Call& call, const ByteScale& x, const ByteScale& y, const ByteFunction& function);

// Returns the function of an operator of one tensor; nothing if it is computed in floats.
std::optional<ByteFunction> byte_function(const Call& call, const ByteScale& x, const ByteScale& y);
// Returns the function that writes integers of x as those of y: QUANTIZE, and an input of CONCATENATION.
ByteFunction requantise(const ByteScale& x, const ByteScale& y);
ByteFunction requantise_to_join(const ByteScale& x, const ByteScale& y);

}  // namespace vellum::tflite

// Converts integers of one scale to integers of another scale, as LiteRT's reference kernels do:
// MultiplyByQuantizedMultiplier() and QuantizeMultiplier() in tflite/kernels/internal/common.cc and
// quantization_util.cc, with double rounding.
#pragma once

#include <cstdint>

namespace vellum {

// The number multiplier * 2^(shift - 31).
struct FixedMultiplier {
  int32_t multiplier = 0, shift = 0;
  bool operator==(const FixedMultiplier&) const = default;
};
// Returns the nearest FixedMultiplier of x, which must be finite.
FixedMultiplier fixed_multiplier(double x);
// Returns sum * x, rounded twice: to a multiple of 2^shift if the shift is negative, and then to an integer,
// ties away from zero.
int32_t multiply(int32_t sum, const FixedMultiplier& x);

// The integer arithmetic of a function of two tensors in a quantised model. Operands and results are integers
// times their steps.
//
//   sum         multiply(multiply(2^sum_shift * a_integer, a) + multiply(2^sum_shift * b_integer, b), y)
//   difference  the same with -
//   square      multiply((multiply(2^sum_shift * a_integer, a) - multiply(2^sum_shift * b_integer, b))^2, y)
//   product     multiply(a_integer * b_integer, y)
//
// A y_step of 0: the function is computed in floats.
struct FixedPair {
  float a_step = 0.0f, b_step = 0.0f, y_step = 0.0f;
  FixedMultiplier a, b, y;
  int32_t sum_shift = 0;  // of a sum, a difference or its square
  bool operator==(const FixedPair&) const = default;
  explicit operator bool() const { return y_step != 0.0f; }
  FixedPair swapped() const { return {b_step, a_step, y_step, b, a, y, sum_shift}; }
};
// Return the multipliers for these steps, as AddPrepare() in tflite/kernels/add.cc and Prepare() in mul.cc
// compute them for integers of 8 or 16 bits, and
// Prepare() in squared_difference.cc for 8 bits. Return an empty pair if results would exceed int32.
FixedPair fixed_sum(float a_step, float b_step, float y_step, int bits = 8);
FixedPair fixed_squared_difference(float a_step, float b_step, float y_step);
FixedPair fixed_product(float a_step, float b_step, float y_step, int bits = 8);
// Return the integer of the result, for the integers of the operands.
int32_t add_integers(int32_t a, int32_t b, const FixedPair& pair);
int32_t subtract_integers(int32_t a, int32_t b, const FixedPair& pair);
int32_t square_integers_difference(int32_t a, int32_t b, const FixedPair& pair);
int32_t multiply_integers(int32_t a, int32_t b, const FixedPair& pair);
// Returns value / step as an integer.
int32_t integer_of(float value, float step);

}  // namespace vellum

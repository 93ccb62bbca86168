// Integers of one scale as integers of another, as LiteRT's reference kernels compute them:
// MultiplyByQuantizedMultiplier() and QuantizeMultiplier() in tflite/kernels/internal/common.cc and
// quantization_util.cc, with double rounding.
#pragma once

#include <cstdint>

namespace vellum {

// x = multiplier * 2^(shift - 31).
struct FixedMultiplier {
  int32_t multiplier = 0, shift = 0;
  bool operator==(const FixedMultiplier&) const = default;
};
// x: finite.
FixedMultiplier fixed_multiplier(double x);
// Returns sum * x, rounded twice: to a multiple of 2^shift (of a negative shift), then to an integer, halves
// away from zero.
int32_t multiply(int32_t sum, const FixedMultiplier& x);

// How a quantised model computes a function of two tensors in integers. Operands and results are integers
// times their steps. A sum or a difference is that of the operands times 2^20, each of which is multiplied by
// its number before and the result by `y`; a product is multiplied by `y`. A y_step of 0: in floats.
struct FixedPair {
  float a_step = 0.0f, b_step = 0.0f, y_step = 0.0f;
  FixedMultiplier a, b, y;
  bool operator==(const FixedPair&) const = default;
  explicit operator bool() const { return y_step != 0.0f; }
  FixedPair swapped() const { return {b_step, a_step, y_step, b, a, y}; }
};
inline constexpr int kFixedSumShift = 20;
// Return the numbers for these steps, as AddPrepare() in tflite/kernels/add.cc and Prepare() in mul.cc
// compute them; an empty pair if results would exceed int32.
FixedPair fixed_sum(float a_step, float b_step, float y_step);
FixedPair fixed_product(float a_step, float b_step, float y_step);
// Return the integers of the result.
int32_t add_integers(int32_t a, int32_t b, const FixedPair& pair);
int32_t subtract_integers(int32_t a, int32_t b, const FixedPair& pair);
int32_t multiply_integers(int32_t a, int32_t b, const FixedPair& pair);
// Returns the integer that value / step is.
int32_t integer_of(float value, float step);

}  // namespace vellum

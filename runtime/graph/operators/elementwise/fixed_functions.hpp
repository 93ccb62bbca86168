// Functions of fixed-point numbers of 32 bits, as gemmlowp (fixedpoint/fixedpoint.h) and LiteRT
// (tflite/kernels/internal/common.h) compute them. Qm.n: a number times 2^n, with m bits for its whole part.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operators/elementwise/fixed_multiplier.hpp"

namespace vellum {

// Returns a * b / 2^31, halves rounded up.
int32_t high_product_of_32_bits(int32_t a, int32_t b);
// Returns x / 2^bits, halves rounded away from zero. bits <= 31.
int32_t rounding_shift(int32_t x, int32_t bits);
// Returns exp(x) in Q0.31 for x <= 0 in Q5.26.
int32_t exp_of_negative(int32_t x);
// Returns 1 / x in Q0.31 after x is divided by a power of two such that it is in [1, 2). `whole_bits`: bits
// of x before the binary point; the logarithm of that power is stored in `exponent`.
int32_t reciprocal(uint32_t x, int32_t whole_bits, int32_t& exponent);
// Returns the multiplier 1 / sqrt(x), whose shift is at most 0. x >= 0; zero counts as one.
FixedMultiplier inverse_square_root(int32_t x);

// A function in 512 linear segments over all integers of 16 bits, and the ends of these segments.
using SegmentTable = std::vector<int32_t>;
// Returns the table of function(x_step * (integer - x_zero)) / y_step. LUTPopulate().
SegmentTable segment_table(double x_step, int32_t x_zero, double y_step, double (*function)(double));
int32_t look_up(const SegmentTable& table, int32_t integer);

}  // namespace vellum

// Functions of fixed-point numbers of 16 bits, as gemmlowp (fixedpoint/fixedpoint.h) computes them. Qm.n: a
// number times 2^n, with m bits for its whole part.
#pragma once

#include <cstdint>

namespace vellum {

// Returns 1 / (1 + exp(-x)) in Q0.15 for x in Q3.12.
int16_t logistic_of_short(int16_t x);
// Returns tanh(x) in Q0.15 for x with `whole_bits` (0 to 6) before the binary point.
int16_t tanh_of_short(int16_t x, int32_t whole_bits);

}  // namespace vellum

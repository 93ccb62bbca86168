// fp16 arithmetic: runs of a few products are accumulated in fp16, and these partial sums are added to an
// fp32 accumulator.
#pragma once

#include <cstdint>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// The length of a run of fp16 accumulation: the products of this many input slices (of four channels each)
// and taps. 0 slices: fp32 arithmetic.
//
// No run of finite halves overflows. The weights of each output channel are multiplied by a power of two, so
// that the magnitudes of the weights in a run sum to less than 1; the fp32 accumulator is divided by it. The
// sum is nearly 1, so that small products lose little accuracy.
struct ProductRun {
  int64_t slices = 0, taps = 1;
  bool of_halves() const { return slices > 0; }
};

// A run that is long enough to make conversions to fp32 cheap, and short enough to keep rounding errors
// small.
inline constexpr ProductRun kRunOfSlices{4, 1};

// Returns whether the node's kernel, which multiplies stored values with constant weights, should use fp16
// arithmetic: by the options, or if they are automatic by measurements. Call it before reading inputs.
bool should_multiply_halves(Lowering& lowering);
// Returns whether the node's kernel should use fp16 arithmetic if both factors are computed and one of them
// is bounded.
bool should_multiply_bounded_halves(Lowering& lowering);

// The scale of a run: 2^exponent, stored as the product of two powers of two that fp16 can represent.
struct RunScale {
  int exponent = 0;
  float first() const;
  float second() const;
};
// Returns the scale of a run whose weights' magnitudes sum to `magnitude`.
RunScale run_scale(double magnitude);

// Defines the shader's macros for runs of fp16 products; none for fp32 arithmetic.
void define_halves(Dispatch& dispatch, const ProductRun& run);

}  // namespace vellum

// Arithmetic of halves: products of them are added up as halves for a short run, which then joins a sum of
// fp32.
#pragma once

#include <cstdint>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// The products of so many input slices (of four channels each) and taps; no slices: arithmetic is that of
// fp32.
//
// No run of finite halves overflows: the weights of each output channel are multiplied by a power of two, by
// which the run is divided once it is fp32, such that the magnitudes of those in a run add up to less than 1.
// They add up to nearly 1 as well, so that little is lost of small products.
struct ProductRun {
  int64_t slices = 0, taps = 1;
  bool of_halves() const { return slices > 0; }
};

// As many as keep a conversion to fp32 for each run from costing much, and its rounding small.
inline constexpr ProductRun kRunOfSlices{4, 1};

// Whether the node's kernel, which multiplies stored values with constant weights, should multiply halves: as
// options have it, and where they leave it open, as was measured. Call it before reading inputs.
bool should_multiply_halves(Lowering& lowering);
// The same of a kernel that knows what its factors on one side are at most, though they are computed.
bool should_multiply_bounded_halves(Lowering& lowering);

// The binary exponent of what such a run is to be divided by, the magnitudes of whose weights add up to
// `magnitude`: the product of two powers of two that halves hold.
struct RunScale {
  int exponent = 0;
  float first() const;
  float second() const;
};
RunScale run_scale(double magnitude);

void define_halves(Dispatch& dispatch, const ProductRun& run);

}  // namespace vellum

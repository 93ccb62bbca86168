#include "kernels/conv/product_run.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/conv/weights.hpp"

namespace vellum {

bool should_multiply_halves(Lowering& lowering) {
  return !computes_weights(lowering) && should_multiply_bounded_halves(lowering);
}

bool should_multiply_bounded_halves(Lowering& lowering) {
  const LoweringOptions& options = lowering.options();
  if (options.arithmetic == Arithmetic::fp32 || options.precision != Precision::fp16) return false;
  if (!lowering.caps().fp16_arithmetic) return false;
  if (options.arithmetic == Arithmetic::fp16) return true;
  return lowering.best_of<bool>(
      {{.name = {"fp32 products"}, .parameters = false}, {{"fp16 products"}, kOnlyIfMeasured, true}});
}

float RunScale::first() const { return std::ldexp(1.0f, exponent / 2); }
float RunScale::second() const { return std::ldexp(1.0f, exponent - exponent / 2); }

RunScale run_scale(double magnitude) {
  // Each product and each sum is rounded up by at most 2^-11. For thirty-two of them the error is less than 1
  // - kMost.
  constexpr double kMost = 0.875;
  // Each of the two factors must be a normal fp16 number: 2^-14 to 2^15.
  constexpr int kLeast = -28, kLargest = 30;
  RunScale scale;
  if (magnitude > 0.0 && std::isfinite(magnitude)) std::frexp(magnitude / kMost, &scale.exponent);
  scale.exponent = std::clamp(scale.exponent, kLeast, kLargest);
  return scale;
}

void define_halves(Dispatch& dispatch, const ProductRun& run) {
  if (run.of_halves()) dispatch.defines.emplace_back("HALF_PRODUCTS", std::to_string(run.slices));
}

}  // namespace vellum

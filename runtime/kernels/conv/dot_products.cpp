#include "kernels/conv/dot_products.hpp"

#include <memory>
#include <string>

namespace vellum {
namespace {

constexpr int32_t kSignedZero = 128;  // the zero point of signed bytes that are stored as unsigned ones

// Returns the dot products for which the device has instructions. Unsigned bytes of an input need no
// conversion.
DotProducts accelerated(const DeviceCaps& caps) {
  if (!caps.integer_dot_products) return DotProducts::none;
  if (caps.accelerates_mixed_dot_products) return DotProducts::mixed_bytes;
  return caps.accelerates_signed_dot_products ? DotProducts::signed_bytes : DotProducts::none;
}

// Returns whether the kernel of a result of in_steps() multiplies by bytes of its input. A ScaledConv does
// where no run has negative steps.
bool multiplies_bytes(const Lowering& lowering, const ByteWeights& bytes) {
  if (bytes.scales_last) return lowering.is_in_bytes(0) && lowering.desc_of_input(0).grid.step == 1.0f;
  return (bytes.fixed_point && !bytes.has_16_bits()) || bytes.x_step != 0.0f;
}

}  // namespace

bool accelerates_dot_products(const DeviceCaps& caps) { return accelerated(caps) != DotProducts::none; }

bool can_multiply_bytes(const Lowering& lowering, const ByteWeightsPointer& bytes, int64_t products) {
  constexpr int64_t kMostProducts = int64_t{1} << 15;  // of at most 255 * 255, within 31 bits
  if (!bytes || products > kMostProducts) return false;
  return bytes->bits == 8 && !bytes->blocks && multiplies_bytes(lowering, *bytes);
}

ByteWeightsPointer in_dot_products(Lowering& lowering, const ByteWeightsPointer& bytes, int64_t products) {
  if (!accelerates_dot_products(lowering.caps()) || !can_multiply_bytes(lowering, bytes, products))
    return bytes;
  const bool uses = lowering.best_of<bool>(
      {{.name = {"dot products"}, .parameters = true}, {{"products of floats"}, kOnlyIfMeasured, false}});
  if (!uses) return bytes;
  ByteWeights found = *bytes;
  found.dot_products = accelerated(lowering.caps());
  return std::make_shared<const ByteWeights>(std::move(found));
}

bool multiplies_dots(const ByteWeightsPointer& bytes) {
  return bytes && bytes->dot_products != DotProducts::none;
}

void define_dot_products(Dispatch& dispatch, const ByteWeights& bytes) {
  if (bytes.dot_products == DotProducts::none) return;
  define(dispatch, "DOT_PRODUCTS", bytes.dot_products == DotProducts::signed_bytes ? "1" : "2");
  if (bytes.zero != kSignedZero) define(dispatch, "OFFSET_WEIGHTS");
}

}  // namespace vellum

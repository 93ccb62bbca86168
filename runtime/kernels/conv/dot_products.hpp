// Convolutions of tensors in bytes by dot products of four bytes with four bytes
// (shaders/common/dot_products.glsl).
#pragma once

#include <cstdint>

#include "kernels/conv/byte_weights.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// Returns whether the device has instructions for dot products of bytes.
bool accelerates_dot_products(const DeviceCaps& caps);

// Returns whether the node being lowered multiplies bytes of its input by the result of in_steps(), which may
// be null, and sums of `products` products fit in 32 bits.
bool can_multiply_bytes(const Lowering& lowering, const ByteWeightsPointer& bytes, int64_t products);

// Returns the result of in_steps(), which may be null, for a kernel that can multiply by dot products: with
// dot_products if the device has instructions for them, unless it was measured that floats are faster.
// Returns other weights as they are. `products`: the products of a sum. Call it before reading inputs.
ByteWeightsPointer in_dot_products(Lowering& lowering, const ByteWeightsPointer& bytes, int64_t products);

// Returns whether the kernel of these weights, which may be null, multiplies by dot products.
bool multiplies_dots(const ByteWeightsPointer& bytes);

// Defines the shader's macros for such weights; none for other weights.
void define_dot_products(Dispatch& dispatch, const ByteWeights& bytes);

}  // namespace vellum

// Converts host tensors to bytes in device order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Converts row-major floats of desc.shape to the storage and layout of `desc`: desc.byte_size() bytes. Unused
// channels and padding are zero.
std::vector<std::byte> pack(const TensorDesc& desc, std::span<const float> row_major);
// Converts elements that are already in device order (texel by texel) to the element type, and pads them with
// zeros to desc.byte_size().
std::vector<std::byte> pack_elements(const TensorDesc& desc, std::span<const float> elements);
// Converts integers for a linear i32 tensor. Throws Error(unsupported) for one that does not fit 32 bits.
std::vector<std::byte> pack_ints(const TensorDesc& desc, std::span<const int64_t> row_major);

}  // namespace vellum

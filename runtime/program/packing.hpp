// Host tensors -> bytes as they lie on the device.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace vellum {

// Row-major floats of desc.shape in the storage and layout of `desc`: desc.byte_size() bytes. Unused channels and
// padding are zero.
std::vector<std::byte> pack(const TensorDesc& desc, std::span<const float> row_major);
// Elements already in device order (texel by texel), padded with zeros to desc.byte_size().
std::vector<std::byte> pack_elements(const TensorDesc& desc, std::span<const float> elements);
// Integers for a linear i32 tensor; throws Error(unsupported) where one does not fit 32 bits.
std::vector<std::byte> pack_ints(const TensorDesc& desc, std::span<const int64_t> row_major);

}  // namespace vellum

// Converts between host tensors of any dtype and the linear f32, f16 or i32 buffers of the device.
#pragma once

#include <cstddef>
#include <span>

#include "program/program.hpp"

namespace vellum {

// Writes dense elements of `dtype` in the layout of `desc`, without allocating memory. `to` has
// desc.byte_size() bytes. Throws Error(unsupported) for an integer that does not fit the device's 32 bits.
void write_linear(const TensorDesc& desc, DType dtype, std::span<const std::byte> elements,
                  std::span<std::byte> to);
void write_linear(const TensorDesc& desc, const HostTensor& tensor, std::span<std::byte> to);
// Reads the elements of a linear tensor as `dtype` into `to`, which has exactly their size.
void read_linear(const TensorDesc& desc, DType dtype, std::span<const std::byte> from,
                 std::span<std::byte> to);
HostTensor read_linear(const TensorDesc& desc, const TensorType& type, std::span<const std::byte> from);

// Returns whether two tensors have equal bits. Unlike with ==, a NaN equals a NaN with the same bits.
bool have_same_bits(const HostTensor& a, const HostTensor& b);

}  // namespace vellum

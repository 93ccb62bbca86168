// Between host tensors of any dtype and the linear f32, f16 or i32 buffers of the device.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/program.hpp"

namespace vellum {

// Writes `tensor` as `desc` lays it out. `to` has desc.byte_size() bytes.
void write_linear(const TensorDesc& desc, const HostTensor& tensor, std::span<std::byte> to);
// Reads a linear tensor as `type`.
HostTensor read_linear(const TensorDesc& desc, const TensorType& type, std::span<const std::byte> from);

}  // namespace vellum

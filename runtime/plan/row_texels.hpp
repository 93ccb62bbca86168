// Matrices whose rows are whole texels need no conversion between the linear layout and images: element i of
// the linear layout is a component of texel i / 4, counted along the rows. Kernels of linear tensors access
// the image itself.
//
//   before   a ..> linear ..> Convert ..> image ..> Gemm      after   a ..> image ..> Gemm
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// The limits of the device that dispatches must keep if they access images in place of buffers.
struct RowTexelLimits {
  uint32_t storage_images = 0, sampled_images = 0;  // of a dispatch; 0: no dispatch accesses rows
  bool reads_storage_images = false;                // false: images that are only read are sampled
  size_t push_constant_bytes = 0;
};

RowTexelLimits row_texel_limits(const DeviceCaps& caps);

// The kernels' tensors that may be rows of texels: shader, and name of the tensor there.
std::vector<std::pair<std::string_view, std::string_view>> row_texel_accesses();

// Removes conversions where all kernels that access the linear tensor can access the image, if `bytes` (the
// memory of a program) does not grow. Returns the number of conversions that it removed.
size_t access_row_texels(Program& program, const RowTexelLimits& limits,
                         const std::function<uint64_t(Program&)>& bytes);

}  // namespace vellum

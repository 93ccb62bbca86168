// Moves between matrices of tokens and pictures whose pixels are these tokens, which the 1x1 convolutions and
// products beside them do as they read or store.
//
//   before   conv_pointwise ..> matrix, strided_texels ..> picture        after   conv_pointwise ..> picture
#pragma once

#include <cstddef>

#include "caps/device_caps.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "program/program.hpp"

namespace vellum {

// Removes each dispatch that only moves all tokens of a tensor in channels4 to the pixels of another, or
// back, if one conv_pointwise computes the former for it alone, or only kernels conv_pointwise read the
// latter, which then read the former. A tensor that is no longer computed stays in the program, unused.
// `wrong`: kernels that must not result; null: none. Returns the number of dispatches that were removed.
size_t fuse_pixel_moves(Program& program, const DeviceCaps& caps, const WrongKernels* wrong);

}  // namespace vellum

// Converts pictures with 16 bits per channel to values of a network, because frames have 8 bits.
#pragma once

#include "io/picture_file.hpp"
#include "vellum/frame.hpp"

namespace vellum::cli {

// Returns the values that with_frames() would compute for a frame of these pixels (in 0..255, with
// fractions), up to rounding: float32 [1, C, H, W] or [1, H, W, C], in the shape frame.network_shape. The
// frame's transform must be parallel to the axes, and its filter area.
Tensor deep_picture(const io::Picture& picture, const FrameInput& frame, bool channels_first);

}  // namespace vellum::cli

// Pictures with 16 bits per channel as values of a network: frames have 8.
#pragma once

#include "common/picture_file.hpp"
#include "vellum/frame.hpp"

namespace vellum::samples {

// What with_frames() would compute for a frame of these pixels (in 0..255, with fractions), to rounding:
// float32 [1, C, H, W], or [1, H, W, C] where the channels do not come first, as frame.network_shape. The
// frame's transform is along the axes and its filter is area.
Tensor deep_picture(const Picture& picture, const FrameInput& frame, bool channels_first);

}  // namespace vellum::samples

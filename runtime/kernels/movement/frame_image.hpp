// An image of the application instead of a frame's bytes: the C++ side of shaders/movement/frame_image.glsl.
#pragma once

#include "program/program.hpp"
#include "vellum/frame.hpp"

namespace vellum {

// The contents of the image. bytes: colours as normalised bytes; numbers: colours in other formats; planes:
// Y, U and V, sampled as green, blue and red.
enum class FrameImage : uint8_t { bytes, numbers, planes };

// Changes a dispatch that reads frames of this format so that it reads a combined image sampler at the
// binding "frame".
Dispatch frame_of_image(Dispatch dispatch, const FrameInput& frame, FrameImage image);

}  // namespace vellum

// An image of the application's in place of a frame's bytes: the other half of
// shaders/movement/frame_image.glsl.
#pragma once

#include "program/program.hpp"
#include "vellum/frame.hpp"

namespace vellum {

// The contents of the image: colours as normalised bytes or as other numbers; or Y, U and V, as green, blue
// and red.
enum class FrameImage : uint8_t { bytes, numbers, planes };

// Returns a dispatch that reads frames of this format, but from a combined image sampler at the binding
// "frame".
Dispatch frame_of_image(Dispatch dispatch, const FrameInput& frame, FrameImage image);

}  // namespace vellum

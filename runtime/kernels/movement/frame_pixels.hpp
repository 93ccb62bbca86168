// Frames of bytes as operands: the other half of shaders/movement/frame_pixels.glsl.
#pragma once

#include "graph/operators/movement/frame.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

ivec4 plane_parameters(const FramePlanes& planes);
inline float32 narrow_parameter(double value) { return static_cast<float>(value); }

// Defines the macros by which the shader reads this format.
void define_frame_format(Dispatch& dispatch, const FrameInput& frame);

// The rows of a FrameTransform, input i of the node. In halves, positions in a frame would be off by pixels.
TensorId read_transform(Lowering& lowering, size_t i);

}  // namespace vellum

// Frames of bytes as operands: the C++ side of shaders/movement/frame_pixels.glsl.
#pragma once

#include "graph/operators/movement/frame.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {

ivec4 plane_parameters(const FramePlanes& planes);
inline float32 narrow_parameter(double value) { return static_cast<float>(value); }

// Defines the shader's macros for this format.
void define_frame_format(Dispatch& dispatch, const FrameInput& frame);

// Returns the rows of a FrameTransform, input i of the node, in fp32: in fp16 positions would be off by
// pixels.
TensorId read_transform(Lowering& lowering, size_t i);

}  // namespace vellum

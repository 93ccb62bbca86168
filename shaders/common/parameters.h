// Declares the parameters of a shader once for GLSL and C++:
//
//   #include "shaders/common/parameters.h"
//
//   BEGIN_PARAMETERS(SoftmaxParameters)
//     ivec4 y_shape;
//     int32 length;
//   END_PARAMETERS
//
// In GLSL this is the shader's block of push constants; in C++ it is a struct of the same name and layout, which kernels
// fill by name: SoftmaxParameters{.y_shape = texel_shape(shape), .length = length}.
//
// Types: int32, float32, ivec2, ivec4, vec4 and INTS(n), an array of n int32. The C++ struct has no padding, so declare
// vectors of four first, then vectors of two, then scalars and arrays. A test compares both languages (tests/shaders).
#pragma once

#ifdef __cplusplus
#include "program/parameters.hpp"
#else
#define BEGIN_PARAMETERS(block) layout(push_constant) uniform block {
// Fields that the runtime appends to the block of a dispatch: the grids of its tensors of bytes (tensor.glsl).
#ifndef APPENDED_PARAMETERS
#define APPENDED_PARAMETERS
#endif
#define END_PARAMETERS APPENDED_PARAMETERS };
#define int32 int
#define float32 float
#define INTS(n) int[n]
#endif

// Stacks the pictures of a temporal convolution's window as slices: slice k * S + s of picture f of y is slice s of
// picture f * stride + k * dilation - padding of x, or zero if x has no such picture. x has S slices.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "stack_frames.h"
#include "tensor.glsl"
#include "texel.glsl"
#include "divide.glsl"

TENSOR_IN(x)
TENSOR_OUT(y)

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  ivec2 tap = divide(p.z, slices(x_shape.z)), picture = divide(p.w, output_frames);
  int frame = picture.y * stride + tap.x * dilation - padding;
  // Always loads, from a valid picture, because a branch costs more on lavapipe.
  vec4 v = load_x(ivec4(p.xy, tap.y, picture.x * frames + clamp(frame, 0, frames - 1)));
  store_y(p, frame >= 0 && frame < frames ? v : vec4(0));
}

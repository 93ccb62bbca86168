// Parameters of frame.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(FrameParameters)
  ivec4 y_shape;
  // With WITH_CHROMA: offsets of the first U and the first V, strides of their rows and columns. Otherwise: bytes of a pixel,
  // and the offsets of R, G and B in it.
  ivec4 plane;
  vec4 mean;      // of the network's channels
  vec4 scale;
  vec4 fill;      // with FILL; red, green, blue, alpha
  ivec2 size;     // of the frame, in pixels
  int32 row;      // bytes from row to row
  float32 luma_offset;  // with WITH_CHROMA, ColorConversion
  float32 luma_scale;
  float32 red_v;
  float32 green_u;
  float32 green_v;
  float32 blue_u;
END_PARAMETERS

// Parameters of picture.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(PictureParameters)
  ivec4 x_shape;  // shape of the values
  ivec4 plane;    // with OVER: plane, row and the six members of ColorConversion are as in frame.h
  ivec2 picture;  // pixels
  ivec2 size;     // with OVER: pixels of the frame
  ivec2 network;  // with OVER: size of the network's input
  int32 row;
  float32 luma_offset;
  float32 luma_scale;
  float32 red_v;
  float32 green_u;
  float32 green_v;
  float32 blue_u;
  float32 low;     // the value that gets the first colour
  float32 scale;   // 1 / (high - low)
  int32 colors;    // of the palette
END_PARAMETERS

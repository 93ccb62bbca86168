// Parameters of copy_region.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(CopyRegionParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 origin;  // first texel (w, h, slice, n) of y that is written
  ivec4 size;  // of the box of y that is written, (w, h, channels, n)
  ivec4 offset;  // in x of element (0, 0, 0, 0) of y
  ivec4 step;
  float32 fill;
  int32 mode;  // a PAD_ constant of pad.glsl
END_PARAMETERS

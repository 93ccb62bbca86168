// Parameters of strided_texels.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(StridedTexelsParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 y_strides;  // y is channels4: strides along its (w, h, c, n)
  int32 count;  // y is linear: its elements
  int32 rank;  // y is linear: its dimensions
  int32 base;  // position in x of the first element
  INTS(6) dims;  // y is linear: its dimensions; dims[0] is the outermost
  INTS(6) strides;  // y is linear: strides along them
END_PARAMETERS

// Parameters of reduce.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ReduceParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  // texels (w, h, slices, n) that are reduced to one texel of y; 1 along dimensions that stay
  ivec4 extent;
  float32 count;  // elements that are reduced to one element of y
  int32 segment;  // SEGMENTED: texels of a segment
  int32 images;  // SEGMENTED: N of the result, without the segments
END_PARAMETERS

// Parameters of concat_texels.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConcatTexelsParameters)
  ivec4 y_shape;
  ivec4 origin;  // first texel (w, h, slice, n) of y that is written
  ivec4 size;  // of the box of y that is written, (w, h, channels, n)
  // Along the concatenated axis of y: where each of x0 to x3 and of x4 to x7 ends, and where x0 begins.
  ivec4 ends;
  ivec4 further_ends;
  int32 begin;
END_PARAMETERS

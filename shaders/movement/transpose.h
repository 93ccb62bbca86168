// Parameters of transpose.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(TransposeParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 source;  // x is channels4: its coordinate k is coordinate source[k] of y
  ivec4 x_strides;  // x is linear: its strides along the (w, h, c, n) of y, in elements
END_PARAMETERS

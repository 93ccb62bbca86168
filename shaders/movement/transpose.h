// Parameters of transpose.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(TransposeParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 source;  // x is channels4: its coordinate k is coordinate source[k] of y
  ivec4 x_strides;  // x is linear: elements between neighbours along y's (w, h, c, n)
END_PARAMETERS

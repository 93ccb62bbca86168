// Parameters of softmax.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SoftmaxParameters)
  ivec4 y_shape;
  ivec4 rows;  // shape (W, H, C, N) of the first texels of all rows
  ivec4 direction;  // of a row, in (w, h, slice, n)
  int32 length;  // texels of a row
END_PARAMETERS

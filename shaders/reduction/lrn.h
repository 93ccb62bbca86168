// Parameters of lrn.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(LrnParameters)
  ivec4 y_shape;
  int32 size;  // neighbouring channels in a sum
  float32 alpha;  // divided by size
  float32 beta;
  float32 bias;
END_PARAMETERS

// Parameters of resize.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ResizeParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  float32 extrapolation;
END_PARAMETERS

// Parameters of grid_sample.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(GridSampleParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  int32 align_corners;
END_PARAMETERS

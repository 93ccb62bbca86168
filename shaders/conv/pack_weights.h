// Parameters of pack_weights.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(PackWeightsParameters)
  ivec4 grid_shape;  // (width, height, 4, 1)
  int32 w_count;  // elements of w
END_PARAMETERS

// Parameters of depth_to_space.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(DepthToSpaceParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  int32 block;
  int32 columns_first;  // 1: the order "CRD"
END_PARAMETERS

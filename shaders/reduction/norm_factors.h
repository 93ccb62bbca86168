// Parameters of norm_factors.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(NormFactorsParameters)
  ivec4 x_shape;  // (1, 1, C, N)
  ivec4 factors_shape;
  float32 epsilon;
  int32 group;  // GROUPED: channels
END_PARAMETERS

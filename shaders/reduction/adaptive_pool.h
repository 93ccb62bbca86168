// Parameters of adaptive_pool.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(AdaptivePoolParameters)
  ivec4 x_shape;
  ivec4 y_shape;
END_PARAMETERS

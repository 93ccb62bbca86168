// Parameters of to_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ToLinearParameters)
  ivec4 x_shape;
END_PARAMETERS

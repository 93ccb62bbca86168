// Parameters of unary.comp with LINEAR_LAYOUT.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(UnaryLinearParameters)
  vec4 activation_params;
  int32 count4;  // groups of four elements
END_PARAMETERS

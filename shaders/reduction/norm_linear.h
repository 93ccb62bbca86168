// Parameters of norm_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(NormLinearParameters)
  vec4 activation_params;
  int32 count;  // elements
  int32 length;  // of a row
  int32 inner;  // element i has scale and bias number i / inner modulo period
  int32 period;
END_PARAMETERS

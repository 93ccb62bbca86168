// Parameters of conv_pointwise.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvPointwiseParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec4 residual_shape;  // with RESIDUAL: the shape of y, possibly with fewer channels
END_PARAMETERS

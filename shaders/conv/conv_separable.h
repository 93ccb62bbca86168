// Parameters of conv_separable.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvSeparableParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;  // activation of the 1x1 convolution
  vec4 middle_params;      // activation of the depthwise convolution
  ivec4 residual_shape;    // with RESIDUAL: the shape of y, possibly with fewer channels
  ivec2 padding;           // left, top
END_PARAMETERS

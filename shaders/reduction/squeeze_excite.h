// Parameters of squeeze_excite.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SqueezeExciteParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  vec4 gate_params;  // (alpha, beta, gamma, 0), with GATE_SCALED (alpha, beta, scale, shift)
  int32 hidden_channels;
END_PARAMETERS

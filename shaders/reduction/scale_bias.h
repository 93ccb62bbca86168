// Parameters of scale_bias.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ScaleBiasParameters)
  vec4 activation_params;
  ivec4 y_shape;
END_PARAMETERS

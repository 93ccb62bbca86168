// Parameters of unary.comp on channels4 tensors.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(UnaryParameters)
  vec4 activation_params;
  ivec4 y_shape;
END_PARAMETERS

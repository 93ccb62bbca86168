// Parameters of binary.comp on channels4 tensors.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(BinaryParameters)
  vec4 activation_params;
  ivec4 y_shape;
  ivec4 a_shape;  // each dimension is that of y, or 1
  ivec4 b_shape;
END_PARAMETERS

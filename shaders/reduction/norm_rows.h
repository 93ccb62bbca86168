// Parameters of norm_rows.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(NormRowsParameters)
  vec4 activation_params;
  ivec4 y_shape;  // with LINEAR_LAYOUT (1, 1, length, rows)
  float32 epsilon;
END_PARAMETERS

// Parameters of matmul_packed.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(MatmulPackedParameters)
  vec4 activation_params;
  int32 y_rows;
  int32 y_columns;
  int32 depth;  // columns of A, rows of B
  int32 w_width;  // texels of a row of the weight grid
END_PARAMETERS

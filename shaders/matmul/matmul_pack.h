// Parameters of matmul_pack.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(MatmulPackParameters)
  int32 rows;  // of a matrix
  int32 columns;
  int32 matrices;
  int32 row_texels;  // texels of a row of y
  int32 row_stride;  // of x, in elements
  int32 column_stride;
END_PARAMETERS

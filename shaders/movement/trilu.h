// Parameters of trilu.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(TriluParameters)
  int32 count;  // elements
  int32 rows;  // of a matrix
  int32 columns;
  int32 upper;  // 1: keeps the upper triangle, 0: the lower
  int32 k;  // the diagonal, without COMPUTED_K
END_PARAMETERS

// Parameters of where.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(WhereParameters)
  int32 count;  // elements of y
  int32 rank;  // of the loops over y; dims[0] is the outermost
  INTS(6) dims;
  INTS(6) condition_strides;  // in elements; 0 along a broadcast dimension
  INTS(6) a_strides;
  INTS(6) b_strides;
END_PARAMETERS

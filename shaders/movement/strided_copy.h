// Parameters of strided_copy.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(StridedCopyParameters)
  int32 count;  // elements of y, or with GROUPS groups of four
  int32 rank;
  int32 base;  // position in x of the first element
  INTS(12) dims;  // of y; dims[0] is the outermost
  INTS(12) strides;  // of x
END_PARAMETERS

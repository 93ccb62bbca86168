// Parameters of binary_integer.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(BinaryIntegerParameters)
  int32 count;  // elements of y
  int32 rank;  // of the loops over y; dims[0] is the outermost
  int32 spare_bits;  // 32 less the bits of the result's type
  INTS(6) dims;
  INTS(6) a_strides;  // in elements; 0 along a broadcast dimension
  INTS(6) b_strides;
END_PARAMETERS

// Parameters of binary.comp with LINEAR_LAYOUT.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(BinaryLinearParameters)
  vec4 activation_params;
  int32 count;  // elements of y
  int32 grouped;  // 1: each group of four elements of y reads four consecutive elements, or one, of a and of b
  int32 rank;  // of the loops over y; dims[0] is the outermost
  INTS(6) dims;
  INTS(6) a_strides;  // in elements; 0 along a broadcast dimension
  INTS(6) b_strides;
END_PARAMETERS

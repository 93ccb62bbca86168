// Parameters of gather.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(GatherParameters)
  int32 count;  // elements of y, or with GROUPS groups of four
  int32 rank;  // of the loops over y; dims[0] is the outermost
  int32 depth;  // indices that make one position in x
  INTS(6) dims;
  INTS(6) x_strides;
  INTS(6) index_strides;
  INTS(5) sizes;  // of the dimensions of x that are indexed
  INTS(5) steps;  // strides of the dimensions of x that are indexed
END_PARAMETERS

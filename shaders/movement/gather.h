// Parameters of gather.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(GatherParameters)
  int32 count;  // elements of y, or with GROUPS groups of four
  int32 rank;  // of the loops over y; dims[0] is the outermost
  int32 depth;  // indices per position in x
  INTS(6) dims;
  INTS(6) x_strides;
  INTS(6) index_strides;
  INTS(5) sizes;  // sizes of the indexed dimensions of x
  INTS(5) steps;  // strides of the indexed dimensions of x
END_PARAMETERS

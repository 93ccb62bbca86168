// Parameters of scatter.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ScatterParameters)
  int32 count;  // number of updates
  int32 rank;  // of the loops over the updates; dims[0] is the outermost
  int32 depth;  // indices per position in y
  INTS(6) dims;
  INTS(6) y_strides;
  INTS(6) index_strides;
  INTS(5) sizes;  // sizes of the indexed dimensions of y
  INTS(5) steps;  // strides of the indexed dimensions of y
END_PARAMETERS

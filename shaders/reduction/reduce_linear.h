// Parameters of reduce_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ReduceLinearParameters)
  int32 y_count;  // elements of y
  int32 parts;  // elements that are reduced to one element of y
  int32 kept;  // dims[0 ... kept - 1] are those of y, the others are reduced
  int32 rank;
  INTS(6) dims;
  INTS(6) strides;  // of x
  float32 count;  // elements of the tensor, over all segments, that are reduced to one element of y
  int32 segment;  // SEGMENTED: elements of a segment
END_PARAMETERS

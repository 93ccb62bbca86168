// Parameters of dynamic_range.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(DynamicRangeParameters)
  ivec4 x_shape;      // with LINEAR_LAYOUT: not used
  int32 count;        // with LINEAR_LAYOUT: elements; otherwise texels
  int32 each;         // elements in groups of four, or texels, of an invocation
  int32 counter;      // the first of two counters
END_PARAMETERS

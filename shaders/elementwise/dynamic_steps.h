// Parameters of dynamic_steps.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(DynamicStepsParameters)
  ivec4 y_shape;  // with INTEGERS: not used
  int32 count4;   // with INTEGERS: groups of four elements; with CONTIGUOUS: texels of an invocation
  int32 counter;  // the first of the two counters of dynamic_range.comp
END_PARAMETERS

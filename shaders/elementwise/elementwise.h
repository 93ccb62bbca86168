// Parameters of elementwise.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ElementwiseParameters)
  int32 count;  // elements of each result
END_PARAMETERS

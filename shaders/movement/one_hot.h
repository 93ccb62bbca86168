// Parameters of one_hot.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(OneHotParameters)
  int32 count;  // elements of y
  int32 depth;  // of the new axis
  int32 inner;  // stride of the new axis, in elements
END_PARAMETERS

// Parameters of top_k.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(TopKParameters)
  int32 rows;
  int32 length;  // of the axis
  int32 inner;  // stride of the axis, in elements
  int32 k;
END_PARAMETERS

// Parameters of softmax_parts.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SoftmaxPartsParameters)
  int32 rows;
  int32 segments;  // of a row
END_PARAMETERS

// Parameters of softmax_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SoftmaxLinearParameters)
  int32 count;  // elements
  int32 length;  // of a row
  int32 inner;  // stride between the elements of a row, in elements
END_PARAMETERS

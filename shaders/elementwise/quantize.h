// Parameters of quantize.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(QuantizeParameters)
  int32 count;  // elements
  int32 inner;  // element i has scale and zero point number i / inner modulo period
  int32 period;
  int32 low;  // range of the integers
  int32 high;
END_PARAMETERS

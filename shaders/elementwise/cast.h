// Parameters of cast.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(CastParameters)
  int32 count4;  // groups of four elements
  int32 low;  // TO_INTEGER: the range of the integer type
  int32 high;
END_PARAMETERS

// Parameters of arg_parts.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ArgPartsParameters)
  int32 count;  // elements of y
  int32 segments;
  int32 last;  // 1: the last one of equal extrema, else the first
END_PARAMETERS

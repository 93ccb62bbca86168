// Parameters of arg_extremum.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ArgExtremumParameters)
  int32 count;  // elements of y
  int32 length;  // of the axis
  int32 inner;  // stride of the axis, in elements
  int32 last;  // 1: the last one of equal extrema, else the first
  int32 segment;  // SEGMENTED: elements of a segment
END_PARAMETERS

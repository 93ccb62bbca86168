// Parameters of cum_sum.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(CumSumParameters)
  int32 rows;
  int32 length;
  int32 inner;  // stride of the axis, in elements
  int32 exclusive;  // 1: a sum does not include the element itself
  int32 reversed;  // 1: sums start at the end of the axis
  int32 segments;  // SEGMENTED: of a row
  int32 segment;  // SEGMENTED: elements of one
END_PARAMETERS

// Parameters of softmax_statistics.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SoftmaxStatisticsParameters)
  int32 rows;
  int32 length;  // of a row
  int32 inner;  // stride between the elements of a row, in elements
  int32 segment;  // SEGMENTED: elements of a segment
END_PARAMETERS

// Parameters of norm_statistics.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(NormStatisticsParameters)
  int32 rows;  // results; SEGMENTED: rows times segments
  int32 length;
  int32 segments;  // SEGMENTED: of a row
  int32 segment;  // SEGMENTED: elements of one
  float32 epsilon;
END_PARAMETERS

// Parameters of fixed_rows_statistics.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(FixedRowsStatisticsParameters)
  int32 rows;
  int32 length;  // of a row
  int32 inner;  // stride between the elements of a row, in elements
  int32 last;  // SOFTMAX: entry of the table
  float32 x_step;
END_PARAMETERS

// Parameters of fixed_rows.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(FixedRowsParameters)
  int32 count;  // elements
  int32 length;  // of a row
  int32 inner;  // stride between the elements of a row, in elements
  int32 last;  // SOFTMAX: entry of the table
  int32 least;
  int32 most;  // integer of a result
  float32 x_step;
  float32 y_step;
END_PARAMETERS

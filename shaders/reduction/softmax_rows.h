// Parameters of softmax_rows.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SoftmaxRowsParameters)
  int32 count;  // results: rows, or with COLUMNS groups of four rows
  int32 length;  // of a row
  int32 inner;  // stride between the elements of a row, in elements
END_PARAMETERS

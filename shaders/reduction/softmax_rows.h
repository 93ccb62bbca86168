// Parameters of softmax_rows.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(SoftmaxRowsParameters)
  int32 count;  // results: rows, or with COLUMNS groups of four rows
  int32 length;  // of a row
  int32 inner;  // elements between neighbours in a row
END_PARAMETERS

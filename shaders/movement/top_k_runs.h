// Parameters of top_k_runs.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(TopKRunsParameters)
  int32 rows;
  int32 length;  // of a row
  int32 inner;  // stride between the elements of a row, in elements
  int32 runs;  // of a row
  int32 kept;  // elements of a run
END_PARAMETERS

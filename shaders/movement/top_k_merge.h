// Parameters of top_k_merge.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(TopKMergeParameters)
  int32 rows;
  int32 length;  // of a row
  int32 runs;  // of a row
  int32 span;  // elements of the row that a run was selected from
  int32 stride;  // distance of runs: the largest number of elements of a run
  int32 kept;  // elements of a merged run
  int32 inner;  // LAST: stride between the elements of a row of y, in elements
END_PARAMETERS

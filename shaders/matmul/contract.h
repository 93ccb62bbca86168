// Parameters of contract.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ContractParameters)
  int32 count;  // elements of y
  // kept + 256 * rank in one field, because all 128 bytes are used: dims[0 ... kept - 1] are those
  // of y, the others are summed
  int32 kept_and_rank;
  INTS(10) dims;
  INTS(10) a_strides;
  INTS(10) b_strides;
END_PARAMETERS

// Parameters of strided_words.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(StridedWordsParameters)
  int32 count;     // words
  int32 rank;
  INTS(8) dims;    // dims[0] is the outermost
  INTS(8) strides;  // in words
END_PARAMETERS

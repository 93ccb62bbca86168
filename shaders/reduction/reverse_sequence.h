// Parameters of reverse_sequence.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ReverseSequenceParameters)
  int32 count;  // elements
  int32 time_size;
  int32 time_stride;
  int32 batch_size;
  int32 batch_stride;
END_PARAMETERS

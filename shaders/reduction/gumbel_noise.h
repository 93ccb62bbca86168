// Parameters of gumbel_noise.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(GumbelNoiseParameters)
  int32 count;    // elements of y
  int32 classes;  // of a row
  int32 samples;  // rows of y for each row of x
  int32 seed;     // any bits
END_PARAMETERS

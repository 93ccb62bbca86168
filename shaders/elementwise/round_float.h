// Parameters of round_float.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(RoundFloatParameters)
  int32 count4;  // groups of four elements
  int32 mantissa_bits;
  int32 lowest_exponent;  // of a number with a leading 1
  float32 largest;
END_PARAMETERS

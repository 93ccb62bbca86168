// Parameters of unary_integer.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(UnaryIntegerParameters)
  int32 count4;  // groups of four elements
  int32 spare_bits;  // 32 less the bits of the result's type
END_PARAMETERS

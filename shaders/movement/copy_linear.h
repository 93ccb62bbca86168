// Parameters of copy_linear.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(CopyLinearParameters)
  int32 count4;  // groups of four elements
END_PARAMETERS

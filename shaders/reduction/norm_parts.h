// Parameters of norm_parts.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(NormPartsParameters)
  int32 rows;
  int32 length;  // elements of a row
  int32 segments;  // of a row
  float32 epsilon;
END_PARAMETERS

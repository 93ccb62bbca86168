// Parameters of norm_statistics.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(NormStatisticsParameters)
  int32 rows;
  int32 length;
  float32 epsilon;
END_PARAMETERS

// Parameters of grid_sample_volume.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(GridSampleVolumeParameters)
  int32 count;  // elements of y
  int32 channels;
  int32 points;  // elements of a channel of y
  int32 align_corners;
  INTS(3) x_size;  // along W, H, D
END_PARAMETERS

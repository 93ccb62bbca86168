// Parameters of roi_align.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(RoiAlignParameters)
  ivec4 x_shape;
  ivec4 y_shape;  // (width, height, C, regions)
  int32 sampling_ratio;  // samples per bin and axis; 0: as many as the bin has elements
  int32 half_pixel;
  float32 spatial_scale;
END_PARAMETERS

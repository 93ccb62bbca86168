// Parameters of winograd_output.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(WinogradOutputParameters)
  ivec4 m_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec4 residual_shape;  // with RESIDUAL: the shape of y, possibly with fewer channels
  ivec2 tiles;  // (across, down)
  int32 bias_row;  // of the weight grid
  int32 grid_width;  // texels of a row of the weight grid
END_PARAMETERS

// Parameters of winograd_input.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(WinogradInputParameters)
  ivec4 x_shape;
  ivec4 v_shape;
  ivec2 tiles;  // (across, down)
  ivec2 padding;  // left, top
END_PARAMETERS

// Parameters of pick_channels.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(PickChannelsParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  ivec4 x2_shape;  // with TWO
END_PARAMETERS

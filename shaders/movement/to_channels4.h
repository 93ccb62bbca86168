// Parameters of to_channels4.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ToChannels4Parameters)
  ivec4 y_shape;
END_PARAMETERS

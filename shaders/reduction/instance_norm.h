// Parameters of instance_norm.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(InstanceNormParameters)
  ivec4 y_shape;
  float32 epsilon;
END_PARAMETERS

// Parameters of instance_norm.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(InstanceNormParameters)
  vec4 activation_params;
  ivec4 y_shape;
  int32 group_slices;  // GROUPED: of a group
  float32 epsilon;
END_PARAMETERS

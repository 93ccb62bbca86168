// Parameters of conv_depthwise_tile.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvDepthwiseTileParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec4 residual_shape;  // with RESIDUAL: that of y, perhaps with fewer channels
  vec4 hidden_params;      // with GATES: of the hidden channels
  vec4 gate_params;        // and of the gates
  ivec2 padding;  // left, top
  int32 hidden_channels;   // with GATES
  int32 counter;           // of the first image
END_PARAMETERS

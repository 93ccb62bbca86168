// Parameters of conv_depthwise_tile.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvDepthwiseTileParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec4 residual_shape;  // with RESIDUAL: the shape of y, possibly with fewer channels
  vec4 hidden_params;      // with GATES: activation of the hidden channels
  vec4 gate_params;        // with GATES: activation of the gates
  ivec2 padding;  // left, top
  int32 hidden_channels;   // with GATES
  int32 counter;           // with GATES: index of the first image's counter
END_PARAMETERS

// Parameters of conv_expand.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvExpandParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;  // activation of the depthwise convolution
  vec4 middle_params;      // activation of the 1x1 convolution
  vec4 hidden_params;      // with GATES: activation of the hidden channels
  vec4 gate_params;        // with GATES: activation of the gates
  ivec2 padding;           // left, top
  ivec2 tile;              // columns and rows of y that a workgroup computes
  int32 hidden_channels;   // with GATES
  int32 counter;           // with GATES: index of the first image's counter
END_PARAMETERS

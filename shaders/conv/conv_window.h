// Parameters of conv.comp, conv_groups.comp and conv_transpose.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvWindowParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec4 residual_shape;  // with RESIDUAL: the shape of y, possibly with fewer channels
  ivec2 kernel_size;  // all pairs are (along W, along H)
  ivec2 stride;
  ivec2 dilation;
  ivec2 padding;  // left, top; conv_transpose.comp removes it from the output
  int32 group_inputs;  // channels of a group
  int32 group_outputs;
  int32 window_slices;  // input slices that the groups of a block of output slices read
END_PARAMETERS

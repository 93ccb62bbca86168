// Parameters of conv_cooperative.comp, conv_bytes_cooperative.comp and conv_block.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(ConvMatrixParameters)
  ivec4 x_shape;
  ivec4 y_shape;
  vec4 activation_params;
  ivec4 residual_shape;  // with RESIDUAL: the shape of y, possibly with fewer channels
  ivec2 kernel_size;  // all pairs are (along W, along H)
  ivec2 stride;
  ivec2 dilation;
  ivec2 padding;  // left, top
END_PARAMETERS

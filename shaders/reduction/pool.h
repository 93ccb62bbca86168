// Parameters of pool.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(PoolParameters)
  vec4 activation_params;  // AVERAGE
  ivec4 x_shape;
  ivec4 y_shape;
  ivec2 kernel;  // all pairs are (along W, along H)
  ivec2 stride;
  ivec2 dilation;
  ivec2 pad_begin;
  ivec2 pad_end;
  int32 count_include_pad;  // 1: an average counts the padding as elements
  float32 p_norm;  // LP: the order of the norm
END_PARAMETERS

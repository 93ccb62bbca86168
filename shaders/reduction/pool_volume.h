// Parameters of pool_volume.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(PoolVolumeParameters)
  vec4 activation_params;  // AVERAGE
  int32 count;  // elements of y
  int32 count_include_pad;  // 1: an average counts the padding as elements
  float32 p_norm;  // LP: the order of the norm
  INTS(3) x_size;  // all triples are (along D, along H, along W)
  INTS(3) y_size;
  INTS(3) kernel;
  INTS(3) stride;
  INTS(3) dilation;
  INTS(3) pad_begin;
  INTS(3) pad_end;
END_PARAMETERS

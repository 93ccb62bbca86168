// Parameters of max_pool_indices.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(MaxPoolIndicesParameters)
  int32 count;  // elements of indices
  int32 column_major;  // 1: positions count along columns first
  ivec2 x_size;  // all pairs are (along W, along H)
  ivec2 y_size;
  ivec2 kernel;
  ivec2 stride;
  ivec2 dilation;
  ivec2 pad_begin;
END_PARAMETERS

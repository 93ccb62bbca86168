// Parameters of attention_pack.comp with OPERANDS.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(AttentionPackTensorsParameters)
  ivec4 x_shape;  // each tensor is channels4
  ivec4 y_shape;  // of the grid: width, height, 4, 1
  int32 tokens;
  int32 heads;
  int32 channels;  // of a head
  int32 images;
  int32 token_stride;  // in elements of each tensor
  int32 head_stride;
  int32 channel_stride;
  int32 image_stride;
  int32 base;  // position in x of the first element
  int32 second_base;  // in x1
  int32 third_base;  // in x2
  int32 first_row;  // the row of the grid that gets the first slice
END_PARAMETERS

// Parameters of attention_merge.comp.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(AttentionMergeParameters)
  int32 queries;
  int32 heads;
  int32 images;
  int32 key_parts;
  int32 y_image_stride;  // in elements
  int32 y_head_stride;
  int32 y_query_stride;
  int32 y_slices;  // with Y_MATRIX: slices of all channels of y
END_PARAMETERS

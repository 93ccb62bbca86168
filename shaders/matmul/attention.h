// Parameters of attention.comp, whose Q, K and V are rows of a grid of texels.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(AttentionParameters)
  int32 queries;
  int32 heads;
  int32 keys;
  int32 images;
  int32 mask_image_stride;  // in elements; 0 if the mask is broadcast
  int32 mask_head_stride;
  int32 mask_query_stride;
  int32 mask_key_stride;
  int32 y_image_stride;  // in elements
  int32 y_head_stride;
  int32 y_query_stride;
  int32 k_row;  // first row of K in the grid
  int32 v_row;  // first row of V in the grid
  int32 grid_width;  // texels of a row
  int32 heads_per_kv;  // heads of Q that share a head of K and V
  int32 depth_slices;  // slices of channels of a head of Q and K
  int32 key_parts;  // with SPLIT_KEYS, else 1
  int32 part_keys;  // keys of a part; the last may have fewer
  float32 scale;
END_PARAMETERS

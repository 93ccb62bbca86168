// Parameters of attention.comp with PICTURES: rows are slices of channels, tokens are pixels.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(AttentionPicturesParameters)
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
  int32 q_row;  // first row of Q in its picture
  int32 k_row;
  int32 v_row;
  int32 q_head_rows;  // rows from one head of Q to the next
  int32 k_head_rows;
  int32 v_head_rows;
  int32 q_width;  // of the pictures of Q
  int32 q_height;
  int32 kv_width;
  int32 kv_height;
  int32 q_slices;  // slices of all channels of the tensor Q
  int32 k_slices;
  int32 v_slices;
  int32 y_slices;
  int32 heads_per_kv;  // heads of Q that share a head of K and V
  int32 depth_slices;  // slices of channels of a head of Q and K
  int32 key_parts;  // with SPLIT_KEYS, else 1
  int32 part_keys;  // keys of a part; the last may have fewer
  float32 scale;
END_PARAMETERS

// Parameters of attention.comp with CACHE: Q, K and V are linear tensors, whose strides are in slices of four channels.
#pragma once

#include "shaders/common/parameters.h"

BEGIN_PARAMETERS(AttentionCacheParameters)
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
  int32 q_image_stride;
  int32 q_head_stride;
  int32 q_token_stride;
  int32 k_image_stride;
  int32 k_head_stride;
  int32 k_token_stride;
  int32 v_image_stride;
  int32 v_head_stride;
  int32 v_token_stride;
  int32 heads_per_kv;  // heads of Q that share a head of K and V
  int32 depth_slices;  // slices of channels of a head of Q and K
  int32 key_parts;  // with SPLIT_KEYS, else 1
  int32 part_keys;  // keys of a part; the last may have fewer
  float32 scale;
END_PARAMETERS

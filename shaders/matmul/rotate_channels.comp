// Rotary position embedding: channel c of a head of y is channel c of x times a cosine plus channel partner[c] of x times a
// sine. All tensors are linear.
#version 450
#extension GL_GOOGLE_include_directive : require

#include "rotate_channels.h"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)
LINEAR_IN(table)
LINEAR_IN(partner)
LINEAR_OUT(y)

void main() {
  int i4 = flat_index();
  if (i4 >= count4) return;
  ivec2 by_row = divide(i4, channels4);
  ivec2 by_token = divide(by_row.x, tokens);
  ivec2 by_head = divide(by_token.x, heads);
  int row = base + by_head.x * strides.x + by_head.y * strides.y + by_token.y * strides.z;
  int offset = by_head.y * head_step + by_token.y * token_step + by_row.y;
  ivec4 other = load4_partner(by_row.y);
  vec4 own, turned;
  for (int k = 0; k < 4; ++k) {
    own[k] = load_x(row + (4 * by_row.y + k) * strides.w);
    turned[k] = load_x(row + other[k] * strides.w);
  }
  store_y(i4, own * load4_table(offset) + turned * load4_table(sines + offset));
}

// GridSample: each output pixel samples the image at a position of the grid: NEAREST, CUBIC or linear.
// https://onnx.ai/onnx/operators/onnx__GridSample.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "grid_sample.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "texel.glsl"
#include "divide.glsl"
#include "cubic.glsl"

TENSOR_IN(x)
LINEAR_IN(grid)  // (N, H, W, 2): x, y in [-1, 1]
TENSOR_OUT(y)

// Returns v reflected into the range from low to high.
vec2 reflect_between(vec2 v, vec2 low, vec2 high) {
  vec2 range = max(high - low, vec2(1e-20));
  vec2 distance = abs(v - low);
  vec2 turns = distance - 2.0 * range * floor(exact_halves(distance, 2.0 * range));
  return mix(low + mix(2.0 * range - turns, turns, lessThanEqual(turns, range)), low,
             lessThanEqual(high, low));
}

// Returns the position to read after padding, clamped to a valid index range. Positions outside of the image
// read zeros.
vec2 pad(vec2 v) {
  vec2 last = vec2(x_shape.xy - 1);
#if defined(BORDER)
  vec2 inside = clamp(v, vec2(0), last);
#elif defined(REFLECTION)
  vec2 inside = align_corners != 0 ? reflect_between(v, vec2(0), last)
                                   : reflect_between(v, vec2(-0.5), last + 0.5);
  inside = clamp(inside, vec2(0), last);
#else
  vec2 inside = clamp(v, vec2(-2), last + 2.0);
#endif
  return mix(inside, vec2(-2), is_nan(v));
}

vec4 read(vec2 position, ivec4 p) {
  ivec2 at = ivec2(position);
  bool inside = all(greaterThanEqual(position, vec2(0))) && all(lessThan(at, x_shape.xy));
  at = clamp(at, ivec2(0), x_shape.xy - 1);  // the conversion of a NaN is undefined
  return inside ? load_x(ivec4(at, p.zw)) : vec4(0);
}

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  int i = 2 * ((p.w * y_shape.y + p.y) * y_shape.x + p.x);
  vec2 unit = (vec2(load_grid(i), load_grid(i + 1)) + 1.0) / 2.0, size = vec2(x_shape.xy);
  vec2 v = align_corners != 0 ? unit * (size - 1.0) : unit * size - 0.5;
  vec4 sum = vec4(0);
#if defined(NEAREST)
  sum = read(roundEven(pad(v)), p);
#elif defined(CUBIC)
  vec2 first = floor(v);
  // As in PyTorch, each of the 16 elements is padded separately.
  vec4 wx = cubic_weights(v.x - first.x, -0.75), wy = cubic_weights(v.y - first.y, -0.75);
  for (int j = 0; j < 4; ++j)
    for (int k = 0; k < 4; ++k) sum += wx[k] * wy[j] * read(pad(first + vec2(k - 1, j - 1)), p);
#else
  vec2 inside = pad(v), first = floor(inside), t = inside - first;
  for (int j = 0; j < 2; ++j)
    for (int k = 0; k < 2; ++k)
      sum += (k == 0 ? 1.0 - t.x : t.x) * (j == 0 ? 1.0 - t.y : t.y) * read(first + vec2(k, j), p);
#endif
  store_y(p, sum);
}

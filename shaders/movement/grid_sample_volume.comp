// GridSample of volumes: each output element samples the volume at a position of the grid: NEAREST or linear.
// An invocation computes four. https://onnx.ai/onnx/operators/onnx__GridSample.html
#version 450
#extension GL_GOOGLE_include_directive : require

#include "grid_sample_volume.h"
#include "inf_nan.glsl"
#include "tensor.glsl"
#include "divide.glsl"

LINEAR_IN(x)     // (N, C, D, H, W)
LINEAR_IN(grid)  // (N, points, 3): x, y, z in [-1, 1]
LINEAR_OUT(y)

// Returns v reflected into the range from low to high.
float reflect_between(float v, float low, float high) {
  float range = high - low;
  if (range <= 0.0) return low;
  float turns = abs(v - low);
  turns -= 2.0 * range * floor(exact_halves(turns, 2.0 * range));
  return low + (turns <= range ? turns : 2.0 * range - turns);
}

// Returns the position to read after padding, clamped to a valid index range. Positions outside of the volume
// read zeros.
float pad(float v, int size) {
  float last = float(size - 1);
#if defined(BORDER)
  float inside = clamp(v, 0.0, last);
#elif defined(REFLECTION)
  float inside = align_corners != 0 ? reflect_between(v, 0.0, last) : reflect_between(v, -0.5, last + 0.5);
  inside = clamp(inside, 0.0, last);
#else
  float inside = clamp(v, -2.0, last + 2.0);
#endif
  return is_nan(v) ? -2.0 : inside;
}

float read(ivec3 p, int plane) {
  ivec3 size = ivec3(x_size[0], x_size[1], x_size[2]);
  bool inside = all(greaterThanEqual(p, ivec3(0))) && all(lessThan(p, size));
  return inside ? load_x(((plane * size.z + p.z) * size.y + p.y) * size.x + p.x) : 0.0;
}

float value(int i) {
  ivec2 plane = divide(i, points);
  int at = 3 * (plane.x / channels * points + plane.y);
  vec3 v;
  for (int axis = 0; axis < 3; ++axis) {
    float unit = (load_grid(at + axis) + 1.0) / 2.0, size = float(x_size[axis]);
    v[axis] = pad(align_corners != 0 ? unit * (size - 1.0) : unit * size - 0.5, x_size[axis]);
  }
#if defined(NEAREST)
  return read(ivec3(roundEven(v)), plane.x);
#else
  vec3 first = floor(v), t = v - first;
  float sum = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    ivec3 next = ivec3(corner & 1, corner >> 1 & 1, corner >> 2);
    vec3 weight = mix(1.0 - t, t, vec3(next));
    sum += weight.x * weight.y * weight.z * read(ivec3(first) + next, plane.x);
  }
  return sum;
#endif
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 v;
  for (int j = 0; j < 4; ++j) v[j] = value(min(4 * i4 + j, count - 1));
  store_y(i4, v);
}

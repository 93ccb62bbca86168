// y[c0, c1, ...] = x[base + c0 * strides[0] + c1 * strides[1] + ...], where x, y or both are channels4 (X_LINEAR: x is
// linear; Y_LINEAR: y is linear). Positions in x count elements in row-major order. X_LINEAR, X_ROWS: view_of.glsl.
//
// LONG_ROWS: the innermost dimension of y is at least three, so that four elements of y are in at most two rows; only the first
// element of each row has its position decoded.
//
// QUADS: four elements of y that an invocation stores are one texel of x, or contiguous from a multiple of four on where x is
// linear.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FINITE_HALVES 1

#include "strided_texels.h"
#include "tensor.glsl"
#include "divide.glsl"
#include "texel.glsl"
#include "view_of.glsl"
VIEW_OF(x)

#ifdef Y_LINEAR
LINEAR_OUT(y)
#define LINEAR_RESULTS
#include "epilogue.glsl"

int source(int i) {
  int at = base;
  for (int d = rank - 1; d > 0; --d) {
    ivec2 split = divide(i, dims[d]);
    at += split.y * strides[d];
    i = split.x;
  }
  return at + i * strides[0];
}

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
#if defined(QUADS)
  store_result(i4, load_quad_x(source(4 * i4)));
#elif defined(LONG_ROWS)
  int length = dims[rank - 1], stride = strides[rank - 1];
  int column = divide(4 * i4, length).y, first = source(4 * i4), next = source(min(4 * i4 + length - column, count - 1));
  vec4 v;
  for (int j = 0; j < 4; ++j) {
    int step = min(j, count - 1 - 4 * i4), at = column + step;
    v[j] = load_element_x(at < length ? first + step * stride : next + (at - length) * stride);
  }
  store_result(i4, v);
#else
  vec4 v;
  for (int j = 0; j < 4; ++j) v[j] = load_element_x(source(min(4 * i4 + j, count - 1)));
  store_result(i4, v);
#endif
}

#else
TENSOR_OUT(y)
#include "epilogue.glsl"

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  int at = base + p.x * y_strides.x + p.y * y_strides.y + 4 * p.z * y_strides.z + p.w * y_strides.w;
#ifdef QUADS
  store_result(p, load_quad_x(at));
#else
  vec4 v = vec4(0);
  for (int j = 0; j < 4; ++j)
    if (4 * p.z + j < y_shape.z) v[j] = load_element_x(at + j * y_strides.z);
  store_result(p, v);
#endif
}

#endif

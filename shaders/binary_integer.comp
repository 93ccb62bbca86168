// FUNCTION (integer.glsl) of two linear tensors with numpy's broadcasting; the result is of integers, the operands
// are so with INTEGER.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Params {
  int count;
  int rank;          // of the loops over y: dims[0] is the outermost
  int dims[6];
  int a_strides[6];  // in elements; 0 along a broadcast dimension
  int b_strides[6];
};

#include "tensor.glsl"
#include "element.glsl"
#include "integer.glsl"

LINEAR_IN(0, a)
LINEAR_IN(1, b)
LINEAR_OUT(2, y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  VECTOR a, b;
  for (int j = 0; j < 4; ++j) {
    int rest = min(4 * i4 + j, count - 1), ia = 0, ib = 0;
    for (int d = rank - 1; d >= 0; --d) {
      int outer = rest / dims[d];
      int c = rest - outer * dims[d];
      ia += c * a_strides[d];
      ib += c * b_strides[d];
      rest = outer;
    }
    a[j] = load_a(ia);
    b[j] = load_b(ib);
  }
  store_y(i4, FUNCTION(a, b));
}

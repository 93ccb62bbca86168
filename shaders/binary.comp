// FUNCTION (binary.glsl) of two tensors with numpy's broadcasting, then an activation. With LINEAR all are linear.
#version 450
#extension GL_GOOGLE_include_directive : require

#ifdef LINEAR
layout(push_constant) uniform Params {
  vec4 activation_params;
  int count;
  int rank;          // of the loops over y: dims[0] is the outermost
  int dims[6];
  int a_strides[6];  // in elements; 0 along a broadcast dimension
  int b_strides[6];
};
#else
layout(push_constant) uniform Params {
  vec4 activation_params;
  ivec4 y_shape;
  ivec4 a_shape;  // each dimension that of y, or 1
  ivec4 b_shape;
};
#endif

#include "tensor.glsl"
#include "texel.glsl"
#include "activation.glsl"
#include "binary.glsl"

#ifdef LINEAR

LINEAR_IN(0, a)
LINEAR_IN(1, b)
LINEAR_OUT(2, y)

void main() {
  int i4 = flat_index();
  if (4 * i4 >= count) return;
  vec4 a, b;
  for (int j = 0; j < 4; ++j) {
    int rest = min(4 * i4 + j, count - 1), ia = 0, ib = 0;
    for (int d = rank - 1; d > 0; --d) {
      int outer = rest / dims[d];
      int c = rest - outer * dims[d];
      ia += c * a_strides[d];
      ib += c * b_strides[d];
      rest = outer;
    }
    a[j] = load_a(ia + rest * a_strides[0]);
    b[j] = load_b(ib + rest * b_strides[0]);
  }
  store_y(i4, activate(FUNCTION(a, b)));
}

#else

TENSOR_IN(0, a)
TENSOR_IN(1, b)
TENSOR_OUT(2, y)

ivec4 broadcast_position(ivec4 p, ivec4 shape) { return min(p, ivec4(shape.xy, slices(shape.z), shape.w) - 1); }

void main() {
  ivec4 p;
  if (!output_texel(y_shape, p)) return;
  vec4 a = load_a(broadcast_position(p, a_shape));
  vec4 b = load_b(broadcast_position(p, b_shape));
  if (a_shape.z == 1) a = a.xxxx;
  if (b_shape.z == 1) b = b.xxxx;
  store_y(p, activate(FUNCTION(a, b)));
}

#endif

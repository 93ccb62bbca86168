// Stores the result of attention: void store_result(int image, int head, int query, int slice, vec4 v).
// Include it after parameters with the strides of y, with Y_MATRIX also after y_shape.
//
// With Y_MATRIX y is in channels4, and its columns are tokens. With Y_SCALARS heads are not whole slices; the
// last slice has LAST_CHANNELS.
#if defined(Y_MATRIX)
TENSOR_OUT(y)
#elif defined(Y_SCALARS)
SCALARS_OUT(y)
#else
LINEAR_OUT(y)
#endif

// Returns sum / total. A token that attends to no key has a total and a sum of 0, and the result is 0. Otherwise
// the total is at least 1, because the largest score contributes 1. There is no branch, because SwiftShader takes
// gigabytes of memory to compile one for each slice.
vec4 weighted_mean(vec4 sum, float total) { return sum / max(total, 0.5); }

void store_result(int image, int head, int query, int slice, vec4 v) {
#if defined(Y_MATRIX)
  store_y(ivec4(0, 0, head * V_SLICES + slice, image * queries + query), v);
#else
  int at = image * y_image_stride + head * y_head_stride + query * y_query_stride;
#if defined(Y_SCALARS)
  [[unroll]] for (int j = 0; j < 4; ++j)
    if (4 * slice + j < 4 * V_SLICES - 4 + LAST_CHANNELS) set_y(at + 4 * slice + j, v[j]);
#else
  store_y((at >> 2) + slice, v);
#endif
#endif
}

// With RANGE a kernel also finds the range of the results that it stores, for a layer that is quantised at run time. Include
// this file after TENSOR_OUT(y), and range_main.glsl at the end. The kernel defines compute_results() instead of
// main(). The main() of range_main.glsl then merges the ranges of all invocations, also of those that returned early. The
// range is in the counters from `range_counter` on.
#ifdef RANGE
#include "range.glsl"

void store_in_range(ivec4 p, vec4 v) {
  store_y(p, v);
  include_in_range(keep_channels(v, y_shape.z - 4 * p.z));
}
#define store_y store_in_range
#endif

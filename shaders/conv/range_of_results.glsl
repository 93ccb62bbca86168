// With RANGE a kernel also finds the range of the results that it stores, for a layer that is quantised at run time. Include
// this file after TENSOR_OUT(y), and range_main.glsl after main(), which then has another name: invocations that return from it
// early must merge their ranges, too. The range of results is in the counters from `range_counter` on.
#ifdef RANGE
#include "range.glsl"

void store_in_range(ivec4 p, vec4 v) {
  store_y(p, v);
  include_in_range(keep_channels(v, y_shape.z - 4 * p.z));
}
#define store_y store_in_range
#define main compute_results
#endif

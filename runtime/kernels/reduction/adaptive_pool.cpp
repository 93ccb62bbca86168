// Lowers AdaptiveAveragePool.
#include "graph/operators/reduction/adaptive_pool.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "shaders/reduction/adaptive_pool.h"

namespace vellum {

void lower_adaptive_pool(Lowering& lowering) {
  const Shape &x_shape = lowering.input_type(0).shape, &y_shape = lowering.output_type().shape;
  Dispatch dispatch = make_dispatch(
      "adaptive_pool", grid_of_texels(lowering.caps(), y_shape),
      {reads("x", lowering.read(0, Layout::channels4)), writes("y", lowering.write(0, Layout::channels4))},
      AdaptivePoolParameters{.x_shape = texel_shape(x_shape), .y_shape = texel_shape(y_shape)});
  dispatch.iterations = window_iterations(largest_adaptive_window(x_shape[3], y_shape[3]),
                                          largest_adaptive_window(x_shape[2], y_shape[2]), 0);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

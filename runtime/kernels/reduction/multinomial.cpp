#include "graph/operators/generators/multinomial.hpp"

#include <bit>

#include "kernels/framework/elements.hpp"
#include "kernels/reduction/arg_extremum.hpp"
#include "shaders/reduction/gumbel_noise.h"

namespace vellum {

// The sums with noise are fp32 in every precision: equal halves would favour the first class.
void lower_multinomial(Lowering& lowering) {
  const Multinomial& op = lowering.op<Multinomial>();
  const Shape& shape = lowering.input_type(0).shape;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  const int64_t rows = shape[0] * op.samples, classes = shape[1];
  const TensorId sums = float_workspace(lowering, "noise", {rows, classes});
  lowering.dispatch(make_dispatch("gumbel_noise", grid_1d(lowering.caps(), rows * classes),
                                  {reads("x", x), writes("y", sums)},
                                  GumbelNoiseParameters{.count = rows * classes,
                                                        .classes = classes,
                                                        .samples = op.samples,
                                                        .seed = std::bit_cast<int32_t>(op.seed)}));
  reduce_to_index(lowering, sums, {.count = rows, .length = classes}, y);
}

}  // namespace vellum

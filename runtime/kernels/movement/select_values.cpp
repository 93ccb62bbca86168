// OneHot and Trilu.
#include "graph/operators/movement/select_values.hpp"

#include <algorithm>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/indexed.hpp"
#include "kernels/framework/one_hot.hpp"
#include "shaders/movement/one_hot.h"
#include "shaders/movement/trilu.h"

namespace vellum {

void one_hot(Lowering& lowering, TensorId indices, TensorId values, TensorId y, int64_t depth,
             int64_t inner) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  Dispatch dispatch =
      make_dispatch("one_hot", grid_1d(lowering.caps(), groups_of_four(shape)),
                    {reads("indices", indices), reads("values", values), writes("y", y)},
                    OneHotParameters{.count = element_count(shape), .depth = depth, .inner = inner});
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

void lower_one_hot(Lowering& lowering) {
  const Shape& shape = lowering.output_type().shape;
  const size_t axis = normalize_axis(lowering.op<OneHot>().axis, shape.size());
  const TensorId indices = lowering.read(0, Layout::linear), values = lowering.read(2, Layout::linear);
  one_hot(lowering, indices, values, lowering.write(0, Layout::linear), shape[axis],
          product(shape, axis + 1, shape.size()));
}

void lower_trilu(Lowering& lowering) {
  const Shape& shape = lowering.output_type().shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const HostTensor* known = lowering.constant(1);
  const bool computed = lowering.has_input(1) && !known;
  const TensorId x = lowering.read(0, Layout::linear);
  const TensorId diagonal = computed ? lowering.read(1, Layout::linear) : kNoTensor;
  const TensorId y = lowering.write(0, Layout::linear);
  // All diagonals beyond the matrix have the same effect.
  const int64_t k = std::clamp<int64_t>(known ? known->to_ints()[0] : 0, -rows - 1, columns + 1);
  Dispatch dispatch =
      make_dispatch("trilu", grid_1d(lowering.caps(), groups_of_four(shape)), {reads("x", x), writes("y", y)},
                    TriluParameters{.count = element_count(shape),
                                    .rows = rows,
                                    .columns = columns,
                                    .upper = lowering.op<Trilu>().upper,
                                    .k = k});
  if (computed) {
    dispatch.bindings.push_back(reads("diagonal", diagonal));
    define(dispatch, "COMPUTED_K");
  }
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

// TopK, OneHot and Trilu.
#include "graph/operators/movement/select_values.hpp"

#include <algorithm>

#include "caps/device_policy.hpp"
#include "kernels/framework/divide.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/indexed.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/one_hot.hpp"
#include "shaders/movement/one_hot.h"
#include "shaders/movement/top_k.h"
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
  // Diagonals beyond the matrix are all alike.
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

namespace {

// Ranking costs length^2 for each row at once, choosing length * k one after the other.
bool ranks(const DeviceCaps& caps, int64_t length, int64_t k) {
  return 4 * k >= length || device_policy(caps).ranks_rows(length, k);
}

}  // namespace

void lower_top_k(Lowering& lowering) {
  const TopK& op = lowering.op<TopK>();
  // On the device integers are compared as signed ones of 32 bits.
  const DType dtype = lowering.input_type(0).dtype;
  if (dtype == DType::u32 || dtype == DType::u64)
    return lowering.run_on_host("TopK of unsigned 32-bit and wider integers has no kernel");
  const Shape &shape = lowering.input_type(0).shape, &chosen = lowering.output_type().shape;
  const size_t axis = normalize_axis(op.axis, shape.size());
  const int64_t length = shape[axis], k = chosen[axis], inner = product(shape, axis + 1, shape.size());
  const IndexedLoops loops = loops_along(shape, chosen, axis);
  if (!fits_indexed(loops)) return lowering.run_on_host_for_rank();
  const int64_t rows = element_count(shape) / length;
  const bool ranked = ranks(lowering.caps(), length, k);
  const TensorId x = lowering.read(0, Layout::linear), indices = lowering.write(1, Layout::linear);
  Dispatch dispatch = make_dispatch(
      "top_k", ranked ? grid_1d(lowering.caps(), rows * length) : workgroups_in_a_row(lowering.caps(), rows),
      {reads("x", x), writes("y", indices)},
      TopKParameters{.rows = rows, .length = length, .inner = inner, .k = k});
  if (ranked) define(dispatch, "RANKED");
  constexpr uint64_t kOfReduction = 8;  // by halves of the workgroup
  dispatch.iterations =
      ranked ? loop_iterations(length)
             : loop_iterations(k, loop_iterations(divide_up(length, kRowWorkgroup)) + kOfReduction);
  if (!op.largest) define(dispatch, "SMALLEST");
  define_element(dispatch, lowering.tensor(x));
  lowering.dispatch(std::move(dispatch));
  if (lowering.is_read(0)) gather(lowering, x, indices, lowering.write(0, Layout::linear), loops);
}

}  // namespace vellum

// CumSum and ReverseSequence.
#include "graph/operators/reduction/scan.hpp"

#include "kernels/framework/divide.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/movement/strided.hpp"
#include "shaders/reduction/cum_sum.h"
#include "shaders/reduction/reverse_sequence.h"

namespace vellum {

void lower_cum_sum(Lowering& lowering) {
  const CumSum& op = lowering.op<CumSum>();
  const Shape& shape = lowering.output_type().shape;
  const size_t axis = normalize_axis(lowering.constant(1)->to_ints()[0], shape.size());
  const int64_t length = shape[axis], rows = element_count(shape) / length;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  // Sums are stored one by one, which halves cannot be.
  TensorDesc desc = lowering.tensor(y).desc;
  const bool halves = desc.element == ElementType::f16;
  if (halves) desc.element = ElementType::f32;
  const TensorId sums = halves ? lowering.workspace(lowering.node().name + "/sums", desc) : y;
  Dispatch dispatch = make_dispatch(
      "cum_sum", workgroups_in_a_row(lowering.caps(), rows), {reads("x", x), writes("y", sums)},
      CumSumParameters{.rows = rows,
                       .length = length,
                       .inner = product(shape, axis + 1, shape.size()),
                       .exclusive = op.exclusive,
                       .reversed = op.reverse});
  define_element(dispatch, lowering.tensor(sums));
  // Two passes over a part of the row, and the sums of the parts before it.
  dispatch.iterations = loop_iterations(divide_up(length, kRowWorkgroup), 1) + loop_iterations(kRowWorkgroup);
  lowering.dispatch(std::move(dispatch));
  if (halves) strided_copy(lowering, sums, y, {shape, {row_major_strides(shape)}}, 0);
}

void lower_reverse_sequence(Lowering& lowering) {
  const ReverseSequence& op = lowering.op<ReverseSequence>();
  const Shape& shape = lowering.output_type().shape;
  const auto time = static_cast<size_t>(op.time_axis), batch = static_cast<size_t>(op.batch_axis);
  const std::vector<int64_t> strides = row_major_strides(shape);
  const TensorId x = lowering.read(0, Layout::linear), lengths = lowering.read(1, Layout::linear),
                 y = lowering.write(0, Layout::linear);
  Dispatch dispatch = make_dispatch(
      "reverse_sequence", grid_1d(lowering.caps(), groups_of_four(shape)),
      {reads("x", x), reads("lengths", lengths), writes("y", y)},
      ReverseSequenceParameters{.count = element_count(shape),
                                .time_size = shape[time],
                                .time_stride = strides[time],
                                .batch_size = shape[batch],
                                .batch_stride = strides[batch]});
  define_element(dispatch, lowering.tensor(y));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

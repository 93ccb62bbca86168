// CumSum and ReverseSequence.
#include "graph/operators/reduction/scan.hpp"

#include <algorithm>

#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/framework/strided.hpp"
#include "program/divide.hpp"
#include "shaders/reduction/cum_sum.h"
#include "shaders/reduction/reverse_sequence.h"

namespace vellum {

namespace {

// Returns the iterations of an invocation: two passes over its part of the row, and a loop over the sums of
// the parts before it.
uint64_t iterations_of_cum_sum(int64_t length) {
  return loop_iterations(divide_up(length, kRowWorkgroup), 1) + loop_iterations(kRowWorkgroup);
}

Segments split_row(const DeviceCaps& caps, int64_t length) {
  constexpr int64_t kMostIterations = 65535, kMostRounds = 1024;
  const int64_t most = std::min<int64_t>(kMostIterations, caps.max_loop_iterations);
  if (iterations_of_cum_sum(length) <= static_cast<uint64_t>(most)) return {.length = length};
  const int64_t rounds = (most - static_cast<int64_t>(iterations_of_cum_sum(0))) / 2;
  const int64_t segment = kRowWorkgroup * std::clamp<int64_t>(rounds, 1, kMostRounds);
  return {divide_up(length, segment), segment};
}

// Adds the dispatches of running sums. In each dispatch a workgroup computes a row or a segment.
class CumSumDispatches {
 public:
  CumSumDispatches(Lowering& lowering, const CumSumParameters& parameters, const VirtualTensor& sums)
      : lowering_(lowering), parameters_(parameters), sums_(sums) {}

  void add(int64_t workgroups, int64_t length, std::vector<Binding> bindings,
           std::vector<const char*> macros) {
    Dispatch dispatch = make_dispatch("cum_sum", workgroups_in_a_row(lowering_.caps(), workgroups),
                                      std::move(bindings), parameters_);
    for (const char* macro : macros) define(dispatch, macro);
    define_element(dispatch, sums_);
    dispatch.iterations = iterations_of_cum_sum(length);
    lowering_.dispatch(std::move(dispatch));
  }

 private:
  Lowering& lowering_;
  CumSumParameters parameters_;
  const VirtualTensor& sums_;
};

}  // namespace

void lower_cum_sum(Lowering& lowering) {
  const CumSum& op = lowering.op<CumSum>();
  const Shape& shape = lowering.output_type().shape;
  const size_t axis = normalize_axis(lowering.constant(1)->to_ints()[0], shape.size());
  const int64_t length = shape[axis], rows = element_count(shape) / length;
  const Segments segments = split_row(lowering.caps(), length);
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  // Sums are stored one by one, which is impossible for fp16 elements.
  TensorDesc desc = lowering.tensor(y).desc;
  const bool halves = desc.element == ElementType::f16;
  if (halves) desc.element = ElementType::f32;
  const TensorId sums = halves ? lowering.workspace(lowering.node().name + "/sums", desc) : y;
  const VirtualTensor& element = lowering.tensor(sums);
  const CumSumParameters parameters{.rows = rows,
                                    .length = length,
                                    .inner = product(shape, axis + 1, shape.size()),
                                    .exclusive = op.exclusive,
                                    .reversed = op.reverse,
                                    .segments = segments.count,
                                    .segment = segments.length};
  CumSumDispatches dispatches(lowering, parameters, element);
  if (!segments.are_many()) {
    dispatches.add(rows, length, {reads("x", x), writes("y", sums)}, {});
  } else {
    desc.shape = {rows * segments.count};
    const TensorId totals = lowering.workspace(lowering.node().name + "/totals", desc);
    const TensorId offsets = lowering.workspace(lowering.node().name + "/offsets", desc);
    const int64_t workgroups = rows * segments.count;
    dispatches.add(workgroups, segments.length, {reads("x", x), writes("y", totals)},
                   {"SEGMENTED", "TOTALS"});
    const CumSumParameters of_totals{.rows = rows,
                                     .length = segments.count,
                                     .inner = 1,
                                     .exclusive = 1,
                                     .reversed = 0,
                                     .segments = 1,
                                     .segment = segments.count};
    CumSumDispatches(lowering, of_totals, element)
        .add(rows, segments.count, {reads("x", totals), writes("y", offsets)}, {});
    dispatches.add(workgroups, segments.length, {reads("x", x), reads("offsets", offsets), writes("y", sums)},
                   {"SEGMENTED"});
  }
  if (halves) strided_copy(lowering, sums, y, {shape, {row_major_strides(shape)}}, 0);
}

void lower_reverse_sequence(Lowering& lowering) {
  const ReverseSequence& op = lowering.op<ReverseSequence>();
  const Shape& shape = lowering.output_type().shape;
  const auto time = static_cast<size_t>(op.time_axis), batch = static_cast<size_t>(op.batch_axis);
  const std::vector<int64_t> strides = row_major_strides(shape);
  const TensorId x = lowering.read(0, Layout::linear), lengths = lowering.read(1, Layout::linear),
                 y = lowering.write(0, Layout::linear);
  Dispatch dispatch = make_dispatch("reverse_sequence", grid_1d(lowering.caps(), groups_of_four(shape)),
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

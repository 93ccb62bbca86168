// Lowers DynamicQuantizeLinear, and DynamicSteps, whose integers are floats. One dispatch finds the range,
// and another rounds.
#include "graph/operators/elementwise/dynamic_steps.hpp"

#include <algorithm>
#include <optional>

#include "caps/driver_quirks.hpp"
#include "cost/device_traits.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/elementwise/dynamic_range.h"
#include "shaders/elementwise/dynamic_steps.h"

namespace vellum {
namespace {

// The invocations of a kernel over groups of four elements. Each computes several groups.
struct Rounds {
  Grid grid;
  int64_t invocations;  // of the grid
  uint64_t iterations;  // of each
};

Rounds rounds_over(const DeviceCaps& caps, int64_t count, int64_t each, int64_t most) {
  const Grid grid = grid_1d(caps, std::clamp<int64_t>(divide_up(count, each), 1, most));
  const int64_t invocations =
      int64_t{grid.workgroup_size[0]} * grid.workgroup_count[0] * grid.workgroup_count[1];
  return {grid, invocations, kShortLoops + loop_iterations(divide_up(count, invocations))};
}

Dispatch steps_dispatch(const DeviceCaps& caps, const Grid& grid, std::vector<Binding> bindings,
                        const DynamicStepsParameters& parameters) {
  Dispatch dispatch = make_dispatch("dynamic_steps", grid, std::move(bindings), parameters);
  if (divides_exactly(caps)) define(dispatch, "EXACT_DIVISION");
  return dispatch;
}

// The shape of a row of texels.
ivec4 row_of(int64_t texels) { return {static_cast<int32_t>(texels), 1, 4, 1}; }

// Returns the order of a buffer's elements in memory; nothing for images.
std::optional<bool> order_of(const TensorDesc& desc) {
  return desc.storage == Storage::buffer ? std::optional(desc.rows_first) : std::nullopt;
}

// Dispatches the kernel that finds the range of x, which has `count` groups of four elements. Each workgroup
// merges its range with atomics.
// Without a dispatch if the kernel that computes x found the range.
Lowering::Counters find_range(Lowering& lowering, TensorId x, int64_t count) {
  if (const auto known = lowering.range_of(0)) return *known;
  const Lowering::Counters range = lowering.counters(2);
  const Rounds rounds = rounds_over(lowering.caps(), count, 16, 16384);
  const TensorDesc& desc = lowering.tensor(x).desc;
  const bool linear = desc.layout == Layout::linear, contiguous = !linear && order_of(desc);
  Dispatch dispatch = make_dispatch(
      "dynamic_range", rounds.grid, {reads("x", x), reads_and_writes("counters", range.tensor)},
      DynamicRangeParameters{.x_shape = linear || contiguous ? row_of(count) : texel_shape(desc.shape),
                             .count = linear ? element_count(desc.shape) : count,
                             .invocations = rounds.invocations,
                             .counter = range.first});
  dispatch.iterations = rounds.iterations;
  if (linear) define(dispatch, "LINEAR_LAYOUT");
  if (contiguous) define(dispatch, "CONTIGUOUS");
  if (device_traits(lowering.caps()).subgroups_to_fill_a_unit == 0) define(dispatch, "DIRECT_ATOMICS");
  lowering.dispatch(std::move(dispatch));
  return range;
}

}  // namespace

void lower_dynamic_quantize_linear(Lowering& lowering) {
  const TensorId x = lowering.read(0, Layout::linear);
  const int64_t count4 = groups_of_four(lowering.input_type(0).shape);
  const Lowering::Counters range = find_range(lowering, x, count4);
  // Devices promise four buffers for a dispatch.
  const auto dispatch = [&](const char* form, int64_t count, std::vector<Binding> bindings) {
    bindings.push_back(reads("counters", range.tensor));
    Dispatch made = steps_dispatch(
        lowering.caps(), grid_1d(lowering.caps(), count), std::move(bindings),
        DynamicStepsParameters{.y_shape = row_of(count), .count4 = count, .counter = range.first});
    define(made, form);
    lowering.dispatch(std::move(made));
  };
  if (lowering.is_read(1) || lowering.is_read(2))
    dispatch("SCALE_ALONE", 1,
             {writes("scale", lowering.write(1, Layout::linear)),
              writes("zero", lowering.write(2, Layout::linear))});
  if (lowering.is_read(0) && count4 > 0)
    dispatch("INTEGERS", count4, {reads("x", x), writes("y", lowering.write(0, Layout::linear))});
}

void lower_dynamic_steps(Lowering& lowering) {
  const Shape& shape = lowering.input_type(0).shape;
  const auto [n, c, h, w] = nchw(shape);
  const int64_t count = n * slices(c) * h * w;
  const TensorId x = lowering.read(0, Layout::channels4);
  const Lowering::Counters range = find_range(lowering, x, count);
  const TensorId y = lowering.write(0, Layout::channels4), scale = lowering.write(1, Layout::linear);
  const auto order = order_of(lowering.tensor(x).desc);
  const bool contiguous = order && order == order_of(lowering.tensor(y).desc);
  // Each invocation first computes the step. There are few invocations if any number of them keeps the device
  // busy.
  const int64_t each = device_traits(lowering.caps()).subgroups_to_fill_a_unit == 0 ? 32 : 4;
  const Rounds rounds = rounds_over(lowering.caps(), count, each, count);
  Dispatch dispatch = steps_dispatch(
      lowering.caps(), contiguous ? rounds.grid : grid_of_texels(lowering.caps(), shape),
      {reads_in_place("x", x), reads("counters", range.tensor), writes("y", y), writes("scale", scale)},
      DynamicStepsParameters{.y_shape = contiguous ? row_of(count) : texel_shape(shape),
                             .count4 = rounds.invocations,
                             .counter = range.first});
  const StepsForm form = lowering.op<DynamicSteps>().form;
  if (form == StepsForm::symmetric) define(dispatch, "SYMMETRIC");
  if (form == StepsForm::signed_bytes) define(dispatch, "SIGNED_BYTES");
  if (contiguous) define(dispatch, "CONTIGUOUS");
  if (contiguous) dispatch.iterations = rounds.iterations;
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

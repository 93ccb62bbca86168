// Lowers DynamicQuantizeLinear, and DynamicSteps, whose integers are floats. One dispatch finds the range,
// and another rounds.
#include "graph/operators/elementwise/dynamic_steps.hpp"

#include <algorithm>
#include <optional>

#include "cost/device_traits.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/elementwise/dynamic_range.h"
#include "shaders/elementwise/dynamic_steps.h"

namespace vellum {
namespace {

// The workgroups of a kernel over groups of four elements. Each computes groups that follow each other in
// memory.
struct Blocks {
  Grid grid;
  int64_t each;         // groups of an invocation
  uint64_t iterations;  // of each invocation
};

// Returns workgroups that compute at least `each` groups in an invocation, and have at most `most`
// invocations. CPUs compute the lanes of a subgroup in all iterations before those of the next one, so that a
// workgroup is one subgroup there: it reads pages in order.
Blocks blocks_over(const DeviceCaps& caps, int64_t count, int64_t each, int64_t most) {
  const DeviceTraits& traits = device_traits(caps);
  const int64_t size = traits.subgroups_to_fill_a_unit == 0 ? traits.loop_workgroup_of_few : kRowWorkgroup;
  constexpr int64_t kUnrolled = 4;
  const int64_t invocations = std::clamp<int64_t>(divide_up(count, each), 1, most);
  const int64_t groups =
      divide_up(std::max<int64_t>(divide_up(count, invocations), 1), kUnrolled) * kUnrolled;
  Grid grid = workgroups_in_a_row(caps, std::max<int64_t>(divide_up(count, size * groups), 1));
  grid.workgroup_size = {static_cast<uint32_t>(size), 1, 1};
  return {grid, groups, kShortLoops + loop_iterations(groups)};
}

Dispatch steps_dispatch(const DeviceCaps& caps, const Grid& grid, std::vector<Binding> bindings,
                        const DynamicStepsParameters& parameters) {
  Dispatch dispatch = make_dispatch("dynamic_steps", grid, std::move(bindings), parameters);
  if (caps.exact_division) define(dispatch, "EXACT_DIVISION");
  return dispatch;
}

// Each invocation first computes the step, or finally merges its range. There are few invocations if any
// number of them keeps the device busy, otherwise those of `usual` groups.
int64_t groups_of_invocation(const DeviceCaps& caps, int64_t usual) {
  constexpr int64_t kMany = 64;
  return device_traits(caps).subgroups_to_fill_a_unit == 0 ? kMany : usual;
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
  const Blocks blocks = blocks_over(lowering.caps(), count, groups_of_invocation(lowering.caps(), 16), 16384);
  const TensorDesc& desc = lowering.tensor(x).desc;
  const bool linear = desc.layout == Layout::linear, contiguous = !linear && order_of(desc);
  Dispatch dispatch = make_dispatch(
      "dynamic_range", blocks.grid, {reads("x", x), reads_and_writes("counters", range.tensor)},
      DynamicRangeParameters{.x_shape = linear || contiguous ? row_of(count) : texel_shape(desc.shape),
                             .count = linear ? element_count(desc.shape) : count,
                             .each = blocks.each,
                             .counter = range.first});
  dispatch.iterations = blocks.iterations;
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
  const Blocks blocks = blocks_over(lowering.caps(), count, groups_of_invocation(lowering.caps(), 4), count);
  Dispatch dispatch = steps_dispatch(
      lowering.caps(), contiguous ? blocks.grid : grid_of_texels(lowering.caps(), shape),
      {reads_in_place("x", x), reads("counters", range.tensor), writes("y", y), writes("scale", scale)},
      DynamicStepsParameters{.y_shape = contiguous ? row_of(count) : texel_shape(shape),
                             .count4 = blocks.each,
                             .counter = range.first});
  const StepsForm form = lowering.op<DynamicSteps>().form;
  if (form == StepsForm::symmetric) define(dispatch, "SYMMETRIC");
  if (form == StepsForm::signed_bytes) define(dispatch, "SIGNED_BYTES");
  if (contiguous) define(dispatch, "CONTIGUOUS");
  if (contiguous) dispatch.iterations = blocks.iterations;
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

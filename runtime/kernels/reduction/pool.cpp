// Pools over windows, and over whole planes as reductions.
#include "graph/operators/pool.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/reduction/reduce.hpp"

namespace vellum {

namespace {

const char* macro_of(PoolKind kind) {
  switch (kind) {
    case PoolKind::max:
      return "MAX";
    case PoolKind::average:
      return "AVERAGE";
    case PoolKind::lp:
      return "LP";
  }
  return "";
}

// (along W, along H) of a list over the one or two spatial axes.
void push_pair(PushConstants& constants, const std::vector<int64_t>& list, int64_t missing) {
  constants.ints({list.back(), list.size() > 1 ? list.front() : missing});
}

// The second output of MaxPool.
void find_maxima(Lowering& lowering, const Pool& op, const WindowPlacement& window) {
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(1, Layout::linear);
  PushConstants constants;
  constants.ints({element_count(shape), op.column_major_indices});
  push_pair(constants, window.input, 1);
  push_pair(constants, window.output, 1);
  push_pair(constants, window.kernel, 1);
  push_pair(constants, window.strides, 1);
  push_pair(constants, window.dilations, 1);
  push_pair(constants, window.pads_begin, 0);
  Dispatch dispatch = make_dispatch("max_pool_indices", grid_1d(lowering.caps(), groups_of_four(shape)),
                                    {reads(x), writes(y)}, constants);
  if (op.window_indices) define(dispatch, "WINDOW");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_pool(Lowering& lowering) {
  const Pool& op = lowering.op<Pool>();
  const std::string name(op.type());
  if (lowering.input_type(0).shape.size() > 4)
    return lowering.run_on_host(name + " over volumes has no kernel");
  if (!is_float(lowering.input_type(0).dtype))
    return lowering.run_on_host(name + " of integers has no kernel");
  const WindowPlacement window = op.place(operator_inputs(lowering));
  if (op.with_indices && lowering.node().outputs[1] != kNoValue) find_maxima(lowering, op, window);
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  const Shape& shape = lowering.output_type().shape;
  PushConstants constants;
  constants.shape(lowering.input_type(0).shape).shape(shape);
  push_pair(constants, window.kernel, 1);
  push_pair(constants, window.strides, 1);
  push_pair(constants, window.dilations, 1);
  push_pair(constants, window.pads_begin, 0);
  push_pair(constants, window.pads_end, 0);
  constants.ints({op.count_include_pad}).floats({static_cast<float>(op.p)});
  Dispatch dispatch =
      make_dispatch("pool", grid_of_texels(lowering.caps(), shape), {reads(x), writes(y)}, constants);
  define(dispatch, macro_of(op.kind));
  lowering.dispatch(std::move(dispatch));
}

void lower_global_pool(Lowering& lowering) {
  const GlobalPool& op = lowering.op<GlobalPool>();
  std::vector<bool> reduced(lowering.input_type(0).shape.size(), true);
  reduced[0] = reduced[1] = false;
  switch (op.kind) {
    case PoolKind::max:
      return reduce(lowering, "ReduceMax", reduced);
    case PoolKind::average:
      return reduce(lowering, "ReduceMean", reduced);
    case PoolKind::lp:
      if (op.p == 1) return reduce(lowering, "ReduceL1", reduced);
      if (op.p == 2) return reduce(lowering, "ReduceL2", reduced);
      return lowering.run_on_host("GlobalLpPool of this norm has no kernel");
  }
}

}  // namespace vellum

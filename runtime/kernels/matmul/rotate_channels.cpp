#include "graph/operators/matmul/rotate_channels.hpp"

#include "kernels/framework/elements.hpp"
#include "shaders/matmul/rotate_channels.h"

namespace vellum {

void lower_rotate_channels(Lowering& lowering) {
  const RotateChannels& op = lowering.op<RotateChannels>();
  const Shape &heads = op.view.shape, &table = lowering.input_type(1).shape;
  if (heads[3] % 4 != 0)
    return lowering.run_on_host("a number of channels that is no multiple of four has no kernel");
  const auto count4 = element_count(heads) / 4;
  const auto& strides = op.view.strides;
  const TensorId x = lowering.read(0, Layout::linear), tables = lowering.read(1, Layout::linear);
  const TensorId partner =
      lowering.integer_weight(lowering.node().name + "/partner", {std::ssize(op.partner)}, op.partner);
  const TensorId y = lowering.write(0, Layout::linear);
  const auto step = [&](size_t axis) { return table[axis] == 1 ? 0 : row_major_strides(table)[axis] / 4; };
  lowering.dispatch(
      make_dispatch("rotate_channels", grid_1d(lowering.caps(), count4),
                    {reads("x", x), reads("table", tables), reads("partner", partner), writes("y", y)},
                    RotateChannelsParameters{.strides = {strides[0], strides[1], strides[2], strides[3]},
                                             .count4 = count4,
                                             .heads = heads[1],
                                             .tokens = heads[2],
                                             .channels4 = heads[3] / 4,
                                             .base = op.view.offset,
                                             .head_step = step(1),
                                             .token_step = step(2),
                                             .sines = element_count(table) / 8}));
}

}  // namespace vellum

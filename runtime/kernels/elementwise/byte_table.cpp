// Lowers ByteTable: functions of quantised tensors by a table of their results, 256 in each row of texels.
#include "graph/operators/elementwise/byte_table.hpp"

#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/elementwise/byte_table.h"

namespace vellum {

void look_up(Lowering& lowering, const ByteTable& op, const HostTensor& entries, Layout layout, TensorId x,
             TensorId y) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  const bool linear = layout == Layout::linear;
  const int64_t count = entries.elements();
  TensorDesc desc = lowering.texel_grid(64, static_cast<uint32_t>(count / 256));
  desc.element = ElementType::f32;
  const TensorId table =
      lowering.weight(lowering.tensor(y).name + "/table", desc, [entries] { return entries.to_floats(); });
  const int64_t count4 = groups_of_four(shape);
  Dispatch dispatch = make_dispatch(
      "byte_table", linear ? grid_1d(lowering.caps(), count4) : grid_of_texels(lowering.caps(), shape),
      {reads_in_place("x", x), reads("table", table), writes("y", y)},
      ByteTableParameters{.y_shape = linear ? ivec4{0, 0, 0, 0} : texel_shape(shape),
                          .count4 = count4,
                          .last = count - 1,
                          .first = op.first,
                          .x_step = op.x_step});
  if (linear) define(dispatch, "LINEAR_LAYOUT");
  lowering.dispatch(std::move(dispatch));
}

void lower_byte_table(Lowering& lowering) {
  const HostTensor* entries = lowering.constant(1);
  if (entries == nullptr)
    return lowering.run_on_host("ByteTable with a table that is computed has no kernel");
  const Layout layout = is_in_channels4(lowering, 0) ? Layout::channels4 : Layout::linear;
  const TensorId x = lowering.read(0, layout), y = lowering.write(0, layout);
  look_up(lowering, lowering.op<ByteTable>(), *entries, layout, x, y);
}

}  // namespace vellum

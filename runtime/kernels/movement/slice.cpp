// Lowers Slice.
#include "graph/operators/movement/slice.hpp"

#include "kernels/framework/elements.hpp"
#include "kernels/framework/strided.hpp"
#include "kernels/movement/copy_region.hpp"

namespace vellum {

void lower_slice(Lowering& lowering) {
  const SliceRange range = lowering.op<Slice>().range(operator_inputs(lowering));
  const Shape& shape = lowering.input_type(0).shape;
  if (is_in_channels4(lowering, 0)) {
    Region region = whole_region(lowering.output_type().shape);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const size_t slot = channels4_slot(shape.size(), axis);
      region.offset[slot] = range.starts[axis];
      region.step[slot] = range.steps[axis];
    }
    // Channels that are not consecutive are read one by one from the linear layout.
    if (region.step[1] == 1)
      return copy_region(lowering, lowering.read(0, Layout::channels4), lowering.write(0, Layout::channels4),
                         region);
  }
  std::vector<int64_t> strides = row_major_strides(shape);
  int64_t base = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    base += range.starts[axis] * strides[axis];
    strides[axis] *= range.steps[axis];
  }
  if (!strided_copy(lowering, 0, strides, base)) lowering.run_on_host_for_rank();
}

}  // namespace vellum

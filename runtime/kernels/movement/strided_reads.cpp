#include "kernels/movement/strided_reads.hpp"

#include "kernels/framework/elements.hpp"

namespace vellum {

bool reads_quads(const StridedView& view, size_t axis, int64_t plane, int64_t channels) {
  if (view.strides[axis] != plane || view.shape[axis] % 4 != 0 || channels % 4 != 0) return false;
  if (view.offset / plane % 4 != 0) return false;
  // Along the other axes a step leads to whole texels, or to another pixel of the same plane.
  int64_t last_pixel = view.offset % plane;
  for (size_t other = 0; other < view.shape.size(); ++other) {
    const int64_t steps = view.shape[other] - 1, stride = view.strides[other];
    if (other == axis || steps == 0 || stride % (4 * plane) == 0) continue;
    if (stride < 0 || stride >= plane) return false;
    last_pixel += steps * stride;
  }
  return last_pixel < plane;
}

Layout layout_of_view(const Lowering& lowering, size_t i) {
  const bool has_both = is_in_channels4(lowering, i) && lowering.exists_in(i, Layout::linear);
  if (has_both && !lowering.options().inputs_to_channels4) return Layout::linear;
  return is_in_channels4(lowering, i) ? Layout::channels4 : Layout::linear;
}

}  // namespace vellum

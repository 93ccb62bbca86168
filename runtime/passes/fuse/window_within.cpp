#include "passes/fuse/window_within.hpp"

namespace vellum {

std::optional<std::array<int64_t, 3>> window_within(const WindowPlacement& inner,
                                                    const WindowPlacement& outer) {
  std::array<int64_t, 3> first{};
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t step = outer.dilations[axis], shift = outer.pads_begin[axis] - inner.pads_begin[axis];
    const bool same_steps = inner.kernel[axis] == 1 || inner.dilations[axis] == step;
    if (inner.strides[axis] != outer.strides[axis] || !same_steps || shift < 0 || shift % step != 0)
      return std::nullopt;
    first[axis] = shift / step;
    if (first[axis] + inner.kernel[axis] > outer.kernel[axis]) return std::nullopt;
  }
  return first;
}

}  // namespace vellum

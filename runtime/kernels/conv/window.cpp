#include "kernels/conv/window.hpp"

#include <utility>

namespace vellum {

Window2d to_2d(WindowPlacement placement) {
  const WindowPlacement p = as_3d(std::move(placement));
  Window2d window;
  for (size_t axis = 0; axis < 2; ++axis) {
    const size_t from = 2 - axis;
    window.kernel[axis] = p.kernel[from];
    window.stride[axis] = p.strides[from];
    window.dilation[axis] = p.dilations[from];
    window.padding[axis] = p.pads_begin[from];
    window.input[axis] = p.input[from];
    window.output[axis] = p.output[from];
  }
  return window;
}

bool fits_32_bits(const Window2d& window) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t reach = window.kernel[axis] * window.dilation[axis];  // factors below 2^30 each
    if (reach >= int64_t{1} << 30 ||
        (reach + window.input[axis] + window.output[axis] + 8) * window.stride[axis] + window.padding[axis] >=
            int64_t{1} << 30)
      return false;
  }
  return true;
}

bool stays_inside(const Window2d& window) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    if (window.padding[axis] > 0 ||
        (window.output[axis] - 1) * window.stride[axis] + reach - window.padding[axis] > window.input[axis])
      return false;
  }
  return true;
}

bool is_pointwise(const Window2d& window) {
  for (size_t axis = 0; axis < 2; ++axis)
    if (window.stride[axis] != 1 || window.padding[axis] != 0 || window.input[axis] != window.output[axis])
      return false;
  return window.taps() == 1;
}

}  // namespace vellum

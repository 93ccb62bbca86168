// The window of a convolution in the form that kernels use.
#pragma once

#include <cstdint>

#include "graph/operators/conv/window.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// A window in two dimensions; each array is (x, y). A one-dimensional window extends along x, as in nchw().
// The default is the window of a matrix product: one pixel.
struct Window2d {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {0, 0};
  int64_t input[2] = {1, 1}, output[2] = {1, 1};  // positions
  int64_t taps() const { return kernel[0] * kernel[1]; }
};
Window2d to_2d(WindowPlacement placement);

// Returns the window of the node, a Conv or ConvTranspose.
template <typename Op>
Window2d window_of(const Lowering& lowering) {
  const OperatorInput inputs[] = {{true, lowering.input_type(0), nullptr},
                                  {true, lowering.input_type(1), nullptr}};
  return to_2d(lowering.op<Op>().place(inputs));
}

// Returns whether the shaders can compute the window's positions: they count in 32 bits, and divide() takes
// less than 2^30.
bool fits_32_bits(const Window2d& window);

// Returns whether each output position reads only the input position with the same index.
bool is_pointwise(const Window2d& window);

// Returns whether no output position reads the padding.
bool stays_inside(const Window2d& window);

// Returns a pair of a Window2d as a field of shader parameters.
inline ivec2 window_pair(const int64_t (&values)[2]) { return {values[0], values[1]}; }

}  // namespace vellum

#include "kernels/conv/contraction.hpp"

#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/contract.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/movement/pad.hpp"

namespace vellum {

namespace {

// Returns the loops of y (n, group, m, out...) = the sum over c and taps of x (n, group, c, out * stride +
// tap * dilation) * w (group, m, c, tap...). `x`: the shape with its padding.
Contraction loops_of(const WindowPlacement& window, int64_t group, const Shape& x, const Shape& w) {
  const auto x_strides = row_major_strides(x), w_strides = row_major_strides(w);
  const int64_t filters = w[0] / group;
  Contraction c{{{x[0], group, filters},
                 {{x_strides[0], w[1] * x_strides[1], 0}, {0, filters * w_strides[0], w_strides[0]}}},
                {{w[1]}, {{x_strides[1]}, {w_strides[1]}}}};
  for (size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const auto add = [&](LoopNest& nest, int64_t dim, int64_t x_step, int64_t w_step) {
      nest.dims.push_back(dim);
      nest.strides[0].push_back(x_step * x_strides[axis + 2]);
      nest.strides[1].push_back(w_step * w_strides[axis + 2]);
    };
    add(c.kept, window.output[axis], window.strides[axis], 0);
    add(c.summed, window.kernel[axis], window.dilations[axis], 1);
  }
  return c;
}

}  // namespace

void convolve_by_contraction(Lowering& lowering, const Conv& conv, TensorId x, TensorId w, TensorId y) {
  const Shape x_shape = lowering.tensor(x).desc.shape, w_shape = lowering.tensor(w).desc.shape;
  const OperatorInput inputs[] = {{true, {DType::f32, x_shape}, nullptr},
                                  {true, {DType::f32, w_shape}, nullptr}};
  const WindowPlacement window = conv.place(inputs);
  Shape padded = x_shape;
  std::vector<int64_t> begin{0, 0};
  for (size_t axis = 0; axis < window.input.size(); ++axis) {
    // Windows need not reach the end, nor stay within the pads that the model names.
    const int64_t end = (window.output[axis] - 1) * window.strides[axis] +
                        (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    begin.push_back(window.pads_begin[axis]);
    padded[axis + 2] = std::max(end, window.input[axis] + window.pads_begin[axis]);
  }
  const Contraction loops = loops_of(window, conv.group, padded, w_shape);
  if (padded != x_shape) {
    const bool integers = lowering.tensor(x).desc.element == ElementType::i32;
    const TensorId all = integers ? integer_workspace(lowering, "padded", padded)
                                  : float_workspace(lowering, "padded", padded);
    pad_with_zeros(lowering, x, all, begin);
    x = all;
  }
  contract(lowering, x, w, y, loops);
}

}  // namespace vellum

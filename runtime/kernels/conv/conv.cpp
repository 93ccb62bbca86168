// Conv.
#include "graph/operators/conv.hpp"

#include "kernels/conv/dense.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/direct.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/elementwise/elementwise.hpp"

namespace vellum {
namespace {

// Three spatial dimensions: the sums, then bias, then the activation.
void lower_volume(Lowering& lowering) {
  const Conv& conv = lowering.op<Conv>();
  if (lowering.has_input(3) || lowering.has_input(4))
    return lowering.run_on_host("a residual or scale of a convolution of volumes has no kernel");
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), w = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  const bool plain = !lowering.has_input(2) && !conv.activation;
  const TensorId sums = plain ? y : float_workspace(lowering, "sums", shape);
  convolve_directly(lowering, conv, x, w, sums);
  if (plain) return;
  const TensorId bias =
      lowering.has_input(2) ? lowering.read(2, Layout::linear) : float_weight(lowering, "bias", {1}, {0.0f});
  const int64_t values = lowering.has_input(2) ? shape[1] : 1;
  combine(lowering, "Add", conv.activation, Layout::linear, {sums, shape}, {bias, {values, 1, 1, 1}},
          {y, shape});
}

}  // namespace

void lower_conv(Lowering& lowering) {
  if (lowering.input_type(0).shape.size() > 4) return lower_volume(lowering);
  const Conv& conv = lowering.op<Conv>();
  const Window2d window = window_of<Conv>(lowering);
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  const Shape& x = lowering.input_type(0).shape;
  const Shape& y = lowering.output_type().shape;
  const bool pointwise = conv.group == 1 && is_pointwise(window);
  if (lowering.has_input(4) && !pointwise)
    return lowering.run_on_host("it scales the input of a wider window or of groups");
  if (conv.group > 1 && conv.group == x[1] && x[1] == y[1])
    return lower_depthwise(lowering, window, conv.activation);
  if (pointwise) return lower_pointwise(lowering, conv.activation);
  lower_dense(lowering, window, conv.group, conv.activation);
}

}  // namespace vellum

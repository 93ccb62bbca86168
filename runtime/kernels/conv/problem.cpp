#include "kernels/conv/problem.hpp"

#include "cost/device_traits.hpp"
#include "graph/operators/conv/conv.hpp"
#include "kernels/conv/weights.hpp"

namespace vellum {
namespace {

bool is_common(int64_t kernel, int64_t stride, int64_t dilation) {
  return kernel == 3 && stride == 1 && dilation == 1;
}

// Whether dense convolutions of the graph with the common window along x make up `much`
// multiply-accumulates or more.
bool has_much_of_common_window(const Graph& graph, uint64_t much) {
  uint64_t macs = 0;
  for (const Node& node : graph.nodes) {
    const auto* conv = dynamic_cast<const Conv*>(node.op.get());
    if (!conv || conv->group != 1) continue;
    const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
    if (inputs[0].type.shape.size() > 4) continue;
    const WindowPlacement window = conv->place(inputs);
    if (is_common(window.kernel.back(), window.strides.back(), window.dilations.back()))
      macs += conv->macs(inputs);
    if (macs >= much) return true;  // most networks, after a few layers
  }
  return false;
}

Window2d whole_window(const Lowering& lowering) {
  const Node& node = lowering.whole_node();
  return to_2d(dynamic_cast<const Conv&>(*node.op).place(operator_inputs(lowering.whole_graph(), node)));
}

}  // namespace

bool is_common_window(const Window2d& window, size_t axis) {
  return is_common(window.kernel[axis], window.stride[axis], window.dilation[axis]);
}

ConvProblem conv_problem(const Lowering& lowering, const Window2d& window) {
  const Conv& conv = lowering.op<Conv>();
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  ConvProblem problem{.images = n,
                      .inputs = lowering.input_type(0).shape[1],
                      .outputs = channels,
                      .height = height,
                      .width = width,
                      .whole_images = nchw(lowering.whole_shape())[0],
                      .whole_height = nchw(lowering.whole_shape())[2],
                      .whole_stays_inside = stays_inside(whole_window(lowering)),
                      .window = window,
                      .groups = conv.group,
                      .narrow_outputs = conv.narrow_outputs,
                      .activation = conv.activation,
                      .has_residual = lowering.has_input(3),
                      .has_scale = lowering.has_input(4),
                      .computes_weights = computes_weights(lowering),
                      .precision = lowering.options().precision,
                      .winograd = lowering.options().winograd};
  if (problem.is_pointwise()) {
    const TensorDesc x = lowering.desc_of_input(0);
    const bool is_row = x.storage == Storage::image2d ? problem.whole_height == 1 : problem.whole_images == 1;
    problem.row_pixels = is_row && !x.rows_first         ? problem.whole_pixels()
                         : x.storage == Storage::image2d ? width
                                                         : 0;
  }
  const uint64_t much = device_traits(lowering.caps()).macs_worth_a_variant;
  problem.has_much_of_common_window =
      is_common_window(window, 0) && has_much_of_common_window(lowering.whole_graph(), much);
  return problem;
}

}  // namespace vellum

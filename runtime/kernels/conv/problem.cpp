#include "kernels/conv/problem.hpp"

#include "cost/device_traits.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/conv/byte_matrices.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/conv/weights.hpp"

namespace vellum {
namespace {

bool is_common(int64_t kernel, int64_t stride, int64_t dilation) {
  return kernel == 3 && stride == 1 && dilation == 1;
}

bool has_common_window(const Operator& op, const std::vector<OperatorInput>& inputs) {
  const Conv* conv = conv_of(op);
  if (!conv || conv->group != 1 || inputs[0].type.shape.size() > 4) return false;
  const WindowPlacement window = place_window(op, inputs);
  return is_common(window.kernel.back(), window.strides.back(), window.dilations.back());
}

// Returns whether the node is a dense convolution with the common window along x, or fuses one.
bool has_common_window(const Node& node, const std::vector<OperatorInput>& inputs) {
  const FusedNodes* fused = as_fused(node, FusedKernelId::branches);
  if (!fused) return has_common_window(*node.op, inputs);
  for (size_t i = 0; i < fused->body.nodes.size(); ++i)
    if (has_common_window(*fused->body.nodes[i].op, fused->inputs_of(i, inputs))) return true;
  return false;
}

// Returns whether convolutions with the common window have at least `much` multiply-accumulates in total.
bool has_much_of_common_window(const Graph& graph, uint64_t much) {
  uint64_t macs = 0;
  for (const Node& node : graph.nodes) {
    const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
    if (has_common_window(node, inputs)) macs += node.op->macs(inputs);
    if (macs >= much) return true;  // most networks, after a few layers
  }
  return false;
}

Window2d whole_window(const Lowering& lowering) {
  const Node& node = lowering.whole_node();
  return to_2d(place_window(*node.op, operator_inputs(lowering.whole_graph(), node)));
}

// Returns the 8-bit weights of a layer whose sums are integers; null for other layers.
ByteWeightsPointer integer_weights(const Lowering& lowering) {
  const Operator& op = *lowering.node().op;
  const bool is_scaled = dynamic_cast<const ScaledConv*>(&op) != nullptr;
  if (!is_scaled && !conv_of(op)->fixed_point) return nullptr;
  const ByteWeightsPointer bytes = byte_weights(lowering);
  return bytes && (is_scaled || bytes->fixed_point) ? bytes : nullptr;
}

}  // namespace

const Conv* conv_of(const Operator& op) {
  const auto* scaled = dynamic_cast<const ScaledConv*>(&op);
  return scaled ? &scaled->conv : dynamic_cast<const Conv*>(&layer_of(op));
}

WindowPlacement place_window(const Operator& op, const std::vector<OperatorInput>& inputs) {
  return dynamic_cast<const ScaledConv*>(&op) ? conv_of(op)->place(ScaledConv::conv_inputs(inputs))
                                              : conv_of(op)->place(inputs);
}

bool is_common_window(const Window2d& window, size_t axis) {
  return is_common(window.kernel[axis], window.stride[axis], window.dilation[axis]);
}

bool has_much_of_common_window(const Lowering& lowering) {
  const uint64_t much = device_traits(lowering.caps()).macs_worth_a_variant;
  return has_much_of_common_window(lowering.whole_graph(), much);
}

ConvProblem conv_problem(const Lowering& lowering, const Window2d& window) {
  const Conv& conv = *conv_of(*lowering.node().op);
  const auto* scaled = dynamic_cast<const ScaledConv*>(lowering.node().op.get());
  const ByteWeightsPointer integers = integer_weights(lowering);
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
                      .channel_taps = conv.channel_taps,
                      .activation = scaled ? scaled->activation : conv.activation,
                      .scaling = conv.scaling,
                      .has_residual = !scaled && lowering.has_input(3),
                      .has_scale = !scaled && lowering.has_input(4),
                      .computes_weights = computes_weights(lowering),
                      .scales_sums = scaled != nullptr,
                      .adds_integers = integers != nullptr,
                      .exceeds_floats = integers && integers->exceeds_floats,
                      .precision = lowering.options().precision,
                      .winograd = lowering.options().winograd};
  // The grid of a layer whose groups are not whole slices is mostly zeros; group_candidates() has bytes of
  // its own.
  const bool has_whole_slices = problem.groups == 1 || problem.group_inputs() % 4 == 0;
  if (has_whole_slices && !problem.computes_weights && !integers) problem.narrow = narrow_weights(lowering);
  if (has_byte_matrices(lowering.caps()) && problem.groups == 1 && !problem.narrow && !problem.has_scale &&
      !problem.computes_weights)
    problem.multiplies_bytes = can_multiply_matrices(
        lowering, in_steps(lowering, byte_weights(lowering), problem.activation), problem.products());
  // Transformed weights would take 7 to 16 times the memory of bytes.
  if (problem.winograd != Winograd::off && (problem.narrow || byte_weights(lowering)))
    problem.winograd = Winograd::off;
  if (problem.is_pointwise()) {
    const TensorDesc x = lowering.desc_of_input(0);
    const bool is_row = x.storage == Storage::image2d ? problem.whole_height == 1 : problem.whole_images == 1;
    problem.row_pixels = is_row && !x.rows_first         ? problem.whole_pixels()
                         : x.storage == Storage::image2d ? width
                                                         : 0;
  }
  problem.has_much_of_common_window = is_common_window(window, 0) && has_much_of_common_window(lowering);
  return problem;
}

}  // namespace vellum

// Lowers Conv: collects the candidates of every algorithm for the problem, and emits the best one.
#include "graph/operators/conv/conv.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/conv/contraction.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/conv/depthwise.hpp"
#include "kernels/conv/direct.hpp"
#include "kernels/conv/groups.hpp"
#include "kernels/conv/matrix.hpp"
#include "kernels/conv/pointwise.hpp"
#include "kernels/conv/problem.hpp"
#include "kernels/conv/winograd.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {
namespace {

// Lowers a convolution in three spatial dimensions: the sums, then the bias, then the activation.
void lower_volume(Lowering& lowering) {
  const Conv& conv = lowering.op<Conv>();
  if (lowering.has_input(3) || lowering.has_input(4))
    return lowering.run_on_host("a residual or scale of a convolution of volumes has no kernel");
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), w = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  const bool plain = !lowering.has_input(2) && !conv.activation;
  const TensorId sums = plain ? y : float_workspace(lowering, "sums", shape);
  convolve_by_contraction(lowering, conv, x, w, sums);
  if (plain) return;
  const TensorId bias =
      lowering.has_input(2) ? lowering.read(2, Layout::linear) : float_weight(lowering, "bias", {1}, {0.0f});
  const int64_t values = lowering.has_input(2) ? shape[1] : 1;
  combine(lowering, "Add", conv.activation, Layout::linear, {sums, shape}, {bias, {values, 1, 1, 1}},
          {y, shape});
}

std::vector<KernelCandidate> conv_candidates(const ConvProblem& problem, const DeviceCaps& caps) {
  if (problem.is_depthwise()) return depthwise_candidates(problem, caps);
  if (problem.is_pointwise()) return pointwise_candidates(problem, caps);
  std::vector<KernelCandidate> all = direct_candidates(problem, caps);
  if (problem.narrow) return all;
  const double us_cost = cost_of_microsecond(all);
  if (problem.adds_integers) {
    std::ranges::move(matrix_candidates(problem, caps, us_cost), std::back_inserter(all));
    return all;
  }
  std::ranges::move(group_candidates(problem, caps), std::back_inserter(all));
  std::ranges::move(matrix_candidates(problem, caps, us_cost), std::back_inserter(all));
  std::ranges::move(winograd_candidates(problem, caps), std::back_inserter(all));
  return all;
}

}  // namespace

void lower_scaled_conv(Lowering& lowering) {
  const Window2d window = to_2d(place_window(*lowering.node().op, operator_inputs(lowering)));
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  if (!lowering.constant(1) || !lowering.constant(4) || !byte_weights(lowering))
    return lowering.run_on_host("its weights are not bytes that are known");
  lowering.emit_best(conv_candidates(conv_problem(lowering, window), lowering.caps()));
}

void lower_conv(Lowering& lowering) {
  if (lowering.input_type(0).shape.size() > 4) return lower_volume(lowering);
  lower_planes(lowering);
}

void lower_planes(Lowering& lowering) {
  const Window2d window = to_2d(place_window(*lowering.node().op, operator_inputs(lowering)));
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  const ConvProblem problem = conv_problem(lowering, window);
  if (problem.has_scale && !problem.is_pointwise())
    return lowering.run_on_host("it scales the input of a wider window or of groups");
  lowering.emit_best(conv_candidates(problem, lowering.caps()));
}

}  // namespace vellum

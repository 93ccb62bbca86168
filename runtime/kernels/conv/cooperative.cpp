#include "kernels/conv/cooperative.hpp"

#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/conv/conv_cooperative.h"

namespace vellum {
namespace {

void emit_cooperative(Lowering& lowering, const ConvProblem& problem, const CooperativeTile& tile) {
  const ConvWeights weights = conv_weights(lowering, 1, problem.window.taps(), 1);
  const ConvExtras extras{.residual = read_residual(lowering)};
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  dispatch_cooperative(lowering, x, y, weights, tile, problem.window, problem.activation,
                       conv_values(lowering, weights), extras);
}

}  // namespace

std::vector<KernelCandidate> cooperative_candidates(const ConvProblem& problem, const DeviceCaps& caps) {
  std::vector<KernelCandidate> candidates;
  if (problem.groups != 1) return candidates;
  for (auto& [name, cost, tile, us] : cooperative_tiles(caps, {.pixels = problem.whole_pixels(),
                                                              .inputs = problem.inputs,
                                                              .outputs = problem.outputs,
                                                              .taps = problem.window.taps(),
                                                              .precision = problem.precision}))
    candidates.push_back({name, cost, [problem, tile = tile](Lowering& lowering) {
                            emit_cooperative(lowering, problem, tile);
                          }});
  return candidates;
}

void dispatch_cooperative(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                          const CooperativeTile& tile, const Window2d& window, const Activation& activation,
                          WeightValues values, const ConvExtras& extras) {
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  const Shape &x_shape = lowering.tensor(x).desc.shape, &y_shape = lowering.tensor(y).desc.shape;
  const auto [n, channels, height, width] = nchw(y_shape);
  Dispatch dispatch;
  dispatch.shader = "conv_cooperative";
  dispatch.bindings = {reads("x", x), reads("w", grid), writes("y", y)};
  dispatch.push_constants =
      ConvCooperativeParameters{.x_shape = texel_shape(x_shape),
                                .y_shape = texel_shape(y_shape),
                                .activation_params = activation_params_or_bounds(activation),
                                .residual_shape = residual_shape(lowering, extras.residual),
                                .kernel_size = window_pair(window.kernel),
                                .stride = window_pair(window.stride),
                                .dilation = window_pair(window.dilation),
                                .padding = window_pair(window.padding)};
  dispatch.macs = static_cast<uint64_t>(n * height * width * channels * weights.inputs * weights.taps);
  dispatch.iterations = loop_iterations(weights.taps * divide_up(weights.inputs, tile.step()));
  cover_with(dispatch, lowering.caps(), tile, tile.blocks(n * height * width, channels));
  define_activation_or_bounds(dispatch, activation);
  add_extras(dispatch, extras, n);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

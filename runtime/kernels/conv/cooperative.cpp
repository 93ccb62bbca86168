#include "kernels/conv/cooperative.hpp"

#include "kernels/framework/activation.hpp"

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
  for (auto& [name, cost, tile] : cooperative_tiles(caps, {.pixels = problem.pixels(),
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
  dispatch.bindings = {{x, Access::read}, {grid, Access::read}, {y, Access::write}};
  cover_with(dispatch, lowering.caps(), tile, tile.blocks(n * height * width, channels));
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(x_shape).shape(y_shape);
  push_activation_or_bounds(constants, activation);
  push_window(constants, window);
  add_extras(lowering, dispatch, constants, extras, n);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

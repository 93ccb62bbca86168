#include "kernels/conv/matrix.hpp"

#include <algorithm>

#include "kernels/conv/byte_matrices.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "program/divide.hpp"
#include "shaders/conv/conv_matrix.h"

namespace vellum {
namespace {

void emit_matrix(Lowering& lowering, const ConvProblem& problem, const MatrixTile& tile) {
  ConvWeights weights = conv_weights(lowering, 1, problem.window.taps(), 1);
  if (multiplies_bytes(tile))
    weights.bytes = for_byte_matrices(in_steps(lowering, byte_weights(lowering), problem.activation));
  else if (reads_bytes(tile))
    weights.bytes = byte_weights(lowering);
  const ConvExtras extras{.residual = read_residual(lowering)};
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  dispatch_matrix(lowering, x, y, weights, tile, problem.window, problem.activation,
                  conv_values(lowering, weights), extras);
}

const char* shader_of(const CooperativeTile& tile) {
  return tile.multiplies_bytes() ? "conv_bytes_cooperative" : "conv_cooperative";
}
const char* shader_of(const BlockTile&) { return "conv_block"; }

}  // namespace

bool reads_bytes(const MatrixTile& tile) {
  return std::holds_alternative<BlockTile>(tile) || multiplies_bytes(tile);
}

bool multiplies_bytes(const MatrixTile& tile) {
  const auto* cooperative = std::get_if<CooperativeTile>(&tile);
  return cooperative && cooperative->multiplies_bytes();
}

std::vector<ParameterCandidate<MatrixTile>> matrix_tiles(const DeviceCaps& caps, const MatrixProblem& problem,
                                                         double us_cost) {
  std::vector<ParameterCandidate<MatrixTile>> tiles;
  if (problem.taps > kMostTaps) return tiles;
  const auto add = [&](const auto& tile) {
    tiles.push_back({tile.name, tile.predicted_cost, tile.parameters});
  };
  std::ranges::for_each(byte_matrix_tiles(caps, problem, us_cost), add);
  if (problem.adds_integers) return tiles;
  // Matrices of bytes load half as much as those of halves.
  if (tiles.empty()) std::ranges::for_each(cooperative_tiles(caps, problem), add);
  const auto is_preferred = [](const auto& tile) { return tile.predicted_cost < 1; };
  if (std::ranges::none_of(tiles, is_preferred))
    std::ranges::for_each(block_tiles(caps, problem, us_cost), add);
  return tiles;
}

std::vector<KernelCandidate> matrix_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                               double us_cost) {
  std::vector<KernelCandidate> candidates;
  if (problem.groups != 1) return candidates;
  for (auto& [name, cost, tile, us] : matrix_tiles(caps,
                                                   {.pixels = problem.whole_pixels(),
                                                   .inputs = problem.inputs,
                                                   .outputs = problem.outputs,
                                                   .taps = problem.window.taps(),
                                                   .precision = problem.precision,
                                                   .multiplies_bytes = problem.multiplies_bytes,
                                                   .adds_integers = problem.adds_integers},
                                                   us_cost))
    candidates.push_back(
        {name, cost, [problem, tile = tile](Lowering& lowering) { emit_matrix(lowering, problem, tile); }});
  return candidates;
}

void dispatch_matrix(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                     const MatrixTile& tile, const Window2d& window, const Activation& activation,
                     WeightValues values, const ConvExtras& extras) {
  const TensorId grid = packed_weights(lowering, weight_grid(lowering, weights), std::move(values));
  const Shape &x_shape = lowering.tensor(x).desc.shape, &y_shape = lowering.tensor(y).desc.shape;
  const auto [n, channels, height, width] = nchw(y_shape);
  Dispatch dispatch;
  dispatch.bindings = {reads("x", x), reads("w", grid), writes("y", y)};
  dispatch.push_constants = ConvMatrixParameters{.x_shape = texel_shape(x_shape),
                                                 .y_shape = texel_shape(y_shape),
                                                 .activation_params = activation_params_or_bounds(activation),
                                                 .residual_shape = residual_shape(lowering, extras.residual),
                                                 .kernel_size = window_pair(window.kernel),
                                                 .stride = window_pair(window.stride),
                                                 .dilation = window_pair(window.dilation),
                                                 .padding = window_pair(window.padding)};
  dispatch.macs = static_cast<uint64_t>(n * height * width * channels * weights.inputs * weights.taps);
  std::visit(
      [&](const auto& of) {
        dispatch.shader = shader_of(of);
        const MatrixProblem problem{.inputs = weights.inputs, .taps = weights.taps};
        dispatch.iterations = loop_iterations(problem.steps(of.step()));
        if (problem.mixes_taps(of.step())) define(dispatch, "TAPS_IN_STEP");
        cover_with(dispatch, lowering.caps(), of, of.blocks(n * height * width, channels));
      },
      tile);
  add_byte_weights(lowering, dispatch, weights.bytes);
  define_results(lowering, dispatch, activation);
  add_extras(dispatch, extras, n);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

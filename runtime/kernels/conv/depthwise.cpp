#include "kernels/conv/depthwise.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kernels/conv/dispatch.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/conv/conv_depthwise.h"

namespace vellum {
namespace {

// The filters of `channels` channels; runs of halves, if any, are the taps of a row.
struct Filters {
  int64_t channels = 0, taps = 0;
  ProductRun run = {};

  int64_t width() const { return taps + (run.of_halves() ? 3 : 1); }
  std::vector<float> pack(std::vector<float> weights, const std::vector<float>& bias) const;
};

// The weights of a channel, and what scales their runs.
RunScale scale_rows(float* weights, int64_t taps, int64_t row) {
  double largest = 0.0;
  for (int64_t first = 0; first < taps; first += row) {
    double sum = 0.0;
    for (int64_t tap = first; tap < first + row; ++tap) sum += std::abs(static_cast<double>(weights[tap]));
    largest = std::max(largest, sum);
  }
  const RunScale scale = run_scale(largest);
  for (int64_t tap = 0; tap < taps; ++tap) weights[tap] = std::ldexp(weights[tap], -scale.exponent);
  return scale;
}

// One texel row per slice: its taps, then the bias, then where runs are of halves what they are multiplied
// with.
std::vector<float> Filters::pack(std::vector<float> weights, const std::vector<float>& bias) const {
  std::vector<float> texels(static_cast<size_t>(4 * slices(channels) * width()));
  for (int64_t c = 0; c < channels; ++c) {
    float* row = texels.data() + c / 4 * 4 * width() + c % 4;
    float* filter = weights.data() + c * taps;
    if (run.of_halves()) {
      const RunScale scale = scale_rows(filter, taps, run.taps);
      row[4 * (taps + 1)] = scale.first();
      row[4 * (taps + 2)] = scale.second();
    }
    for (int64_t tap = 0; tap < taps; ++tap) row[4 * tap] = filter[tap];
    if (!bias.empty()) row[4 * taps] = bias[static_cast<size_t>(c)];
  }
  return texels;
}

WeightValues filter_values(const Lowering& lowering, const Filters& filters) {
  auto make = [filters, weights = weights_of(lowering), bias = bias_of(lowering)] {
    return filters.pack(weights.to_floats(), bias);
  };
  const int64_t fp16_taps = filters.run.of_halves() ? filters.run.taps : 0;
  return values_of_packing(lowering, {PackingScheme::depthwise, {fp16_taps}}, make);
}

// The common windows have variants that load each column of a row once; others share one shader.
void define_depthwise_window(Dispatch& dispatch, const Window2d& window) {
  const bool common =
      (window.kernel[0] == 3 || window.kernel[0] == 5) && window.stride[0] <= 2 && window.dilation[0] == 1;
  dispatch.defines.emplace_back("KERNEL_X", common ? std::to_string(window.kernel[0]) : "0");
  dispatch.defines.emplace_back("STRIDE_X", common ? std::to_string(window.stride[0]) : "0");
}

void emit_depthwise(Lowering& lowering, const ConvProblem& problem, const OutputTile& tile) {
  const Window2d& window = problem.window;
  const int64_t channels = problem.outputs;
  Filters filters{channels, window.taps()};
  constexpr int64_t kMostInARun = 16;
  if (window.kernel[0] <= kMostInARun && should_multiply_halves(lowering))
    filters.run = {1, window.kernel[0]};
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId grid = packed_weights(lowering, weight_grid(lowering, filters.width(), slices(channels)),
                                       filter_values(lowering, filters));
  const TensorId y = lowering.write(0, Layout::channels4);
  const int64_t invocations =
      divide_up(problem.width, tile.pixels) * problem.height * slices(channels) * problem.images;
  const TensorId residual = read_residual(lowering);
  const vec4 activation = activation_params_or_bounds(problem.activation);
  const std::optional<Grid> uniform = uniform_grid(
      lowering.caps(), lowering.tensor(grid).desc.storage, {tile},
      {divide_up(problem.width, tile.pixels) * problem.height, slices(channels), problem.images});
  Dispatch dispatch =
      make_dispatch("conv_depthwise", uniform ? *uniform : grid_1d(lowering.caps(), invocations),
                    {reads("x", x), reads("w", grid), writes("y", y)},
                    ConvDepthwiseParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                                            .y_shape = texel_shape(lowering.output_type().shape),
                                            .activation_params = activation,
                                            .residual_shape = residual_shape(lowering, residual),
                                            .kernel_size = window_pair(window.kernel),
                                            .stride = window_pair(window.stride),
                                            .dilation = window_pair(window.dilation),
                                            .padding = window_pair(window.padding)});
  dispatch.macs = lowering.macs();
  define_tile(dispatch, {tile});
  if (uniform) define(dispatch, "UNIFORM_SLICES");
  define_halves(dispatch, filters.run);
  define_depthwise_window(dispatch, window);
  define_activation_or_bounds(dispatch, problem.activation);
  add_extras(dispatch, {.residual = residual}, problem.images);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps) {
  std::vector<KernelCandidate> candidates;
  const int64_t lines = problem.height * problem.images * slices(problem.outputs);
  for (const auto& [tile, cost] : output_tiles(caps, {problem.width, lines, 1, 0}))
    candidates.push_back({tile_name("depthwise", {tile}), cost, [problem, tile = tile](Lowering& lowering) {
                            emit_depthwise(lowering, problem, tile);
                          }});
  return candidates;
}

}  // namespace vellum

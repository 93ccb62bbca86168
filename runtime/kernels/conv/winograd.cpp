#include "kernels/conv/winograd.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/registers.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "shaders/conv/winograd_input.h"
#include "shaders/conv/winograd_output.h"
#include "shaders/conv/winograd_product.h"

namespace vellum {
namespace {

// Tiles of side x side output pixels. elements(): those of a transformed tile.
struct Tiles {
  int64_t side, across, down, count;
  int64_t span() const { return side + 2; }
  int64_t elements() const { return span() * span(); }
};

Tiles tiles_of(const ConvProblem& problem, int64_t side) {
  const int64_t across = divide_up(problem.width, side), down = divide_up(problem.height, side);
  return {side, across, down, problem.images * across * down};
}

Tiles whole_tiles(ConvProblem problem, int64_t side) {
  problem.images = problem.whole_images;
  problem.height = problem.whole_height;
  return tiles_of(problem, side);
}

// Returns the desc of transformed tiles of `channels` channels. They have the storage of `desc` if the limits
// of images allow it, and are fp32, because the sums of the transforms cancel each other later.
TensorDesc transformed(const Lowering& lowering, TensorDesc desc, int64_t channels, const Tiles& tiles) {
  desc.shape = {1, channels, tiles.elements(), tiles.count};
  desc.element = ElementType::f32;
  if (desc.storage != Storage::buffer) lowering.choose_storage(desc);
  return desc;
}

using Row = std::array<double, 3>;

// Returns the matrix G for the tiles of shaders/conv/winograd.glsl.
std::vector<Row> weight_transform(int64_t side) {
  if (side == 2) return {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  constexpr double a = 2.0 / 3, b = 3.0 / 2;
  constexpr double at_a = 1 / (2 * a * a * (a * a - b * b)), at_b = 1 / (2 * b * b * (b * b - a * a));
  return {{1, 0, 0},
          {at_a, at_a * a, at_a * a * a},
          {at_a, -at_a * a, at_a * a * a},
          {at_b, at_b * b, at_b * b * b},
          {at_b, -at_b * b, at_b * b * b},
          {0, 0, 1}};
}

// Returns G g G^T for each 3x3 filter g.
std::vector<float> transform_weights(const std::vector<float>& weights, int64_t side) {
  const std::vector<Row> G = weight_transform(side);
  std::vector<float> transformed;
  transformed.reserve(weights.size() / 9 * G.size() * G.size());
  for (const float* g = weights.data(); g != weights.data() + weights.size(); g += 9) {
    for (const Row& down : G) {
      Row line{};
      for (size_t row = 0; row < 3; ++row)
        for (size_t column = 0; column < 3; ++column)
          line[column] += down[row] * static_cast<double>(g[3 * row + column]);
      for (const Row& across : G)
        transformed.push_back(
            static_cast<float>(line[0] * across[0] + line[1] * across[1] + line[2] * across[2]));
    }
  }
  return transformed;
}

TensorId transformed_weights(Lowering& lowering, const ConvWeights& grid, int64_t side) {
  auto make = [grid, side, weights = weights_of(lowering), bias = bias_of(lowering)] {
    const std::vector<float> u = transform_weights(weights.to_floats(), side);
    return grid.pack(
        [&](int64_t m, int64_t c, int64_t element) {
          return u[static_cast<size_t>((m * grid.inputs + c) * grid.taps + element)];
        },
        bias);
  };
  return packed_weights(
      lowering, weight_grid(lowering, grid.width(), grid.height()),
      values_of_packing(lowering, {PackingScheme::winograd, grid.packing_parameters()}, std::move(make)));
}

void transform_input(Lowering& lowering, const Tiles& tiles, TensorId x, TensorId v, int64_t pad_left,
                     int64_t pad_top) {
  const Shape &x_shape = lowering.tensor(x).desc.shape, &v_shape = lowering.tensor(v).desc.shape;
  Dispatch dispatch =
      make_dispatch("winograd_input", grid_1d(lowering.caps(), tiles.count * slices(x_shape[1])),
                    {reads("x", x), writes("v", v)},
                    WinogradInputParameters{.x_shape = texel_shape(x_shape),
                                            .v_shape = texel_shape(v_shape),
                                            .tiles = {tiles.across, tiles.down},
                                            .padding = {pad_left, pad_top}});
  define(dispatch, "SIDE", std::to_string(tiles.side));
  lowering.dispatch(std::move(dispatch));
}

void multiply(Lowering& lowering, const Tiles& tiles, const ConvWeights& weights, const OutputTile& tile,
              TensorId v, TensorId w, TensorId m) {
  const int64_t invocations = divide_up(tiles.count, tile.pixels) * tiles.elements() * weights.blocks();
  Dispatch dispatch =
      make_dispatch("winograd_product", grid_1d(lowering.caps(), invocations),
                    {reads("v", v), reads("w", w), writes("m", m)},
                    WinogradProductParameters{.v_shape = texel_shape(lowering.tensor(v).desc.shape),
                                              .m_shape = texel_shape(lowering.tensor(m).desc.shape)});
  dispatch.macs = static_cast<uint64_t>(tiles.count * tiles.elements() * weights.inputs * weights.outputs);
  dispatch.iterations =
      slice_iterations(lowering.tensor(v).desc, slices(weights.inputs), weights.run.of_halves());
  define_tile(dispatch, {tile});
  if (device_traits(lowering.caps()).slices_ahead_in_windows)
    define(dispatch, "AHEAD", std::to_string(slices_ahead(lowering.caps(), tile, false, false)));
  lowering.dispatch(std::move(dispatch));
}

void transform_output(Lowering& lowering, const Tiles& tiles, const ConvWeights& weights, TensorId m,
                      TensorId w, TensorId y, const Activation& activation) {
  const Shape& y_shape = lowering.tensor(y).desc.shape;
  const TensorId residual = read_residual(lowering);
  Dispatch dispatch = make_dispatch(
      "winograd_output", grid_1d(lowering.caps(), tiles.count * slices(y_shape[1])),
      {reads("m", m), reads("w", w), writes("y", y)},
      WinogradOutputParameters{.m_shape = texel_shape(lowering.tensor(m).desc.shape),
                               .y_shape = texel_shape(y_shape),
                               .activation_params = activation_params_or_bounds(activation),
                               .residual_shape = residual_shape(lowering, residual),
                               .tiles = {tiles.across, tiles.down},
                               .bias_row = weights.blocks() * weights.tile_slices * weights.taps,
                               .grid_width = weights.width()});
  define(dispatch, "SIDE", std::to_string(tiles.side));
  define_results(lowering, dispatch, activation);
  if (residual != kNoTensor) add_residual(dispatch, residual);
  lowering.dispatch(std::move(dispatch));
}

// The unit of cost is the product of a texel with the weights of one output channel. Each pair of slices
// takes four units for each tap, or for each element of a transformed tile. Transforming an element takes a
// load, a store and some additions: about twelve units on lavapipe with buffers.
struct LayerCosts {
  double pixels, inputs, outputs;  // the last two in slices

  explicit LayerCosts(const ConvProblem& problem)
      : pixels(static_cast<double>(problem.whole_pixels())),
        inputs(static_cast<double>(slices(problem.inputs))),
        outputs(static_cast<double>(slices(problem.outputs))) {}
  double direct() const { return 36 * pixels * inputs * outputs; }
  double winograd(const Tiles& tiles) const {
    return static_cast<double>(tiles.count * tiles.elements()) *
           (4 * inputs * outputs + 12 * (inputs + outputs));
  }
};

// Returns the predicted time of the three dispatches relative to a direct convolution. Returns nothing if the
// device does not choose Winograd by predicted time. Transformed tiles are stored once and loaded once.
std::optional<double> predicted_share(const ConvProblem& problem, const DeviceCaps& caps,
                                      const Tiles& tiles) {
  if (!device_traits(caps).predicts_winograd) return std::nullopt;
  const auto us_of = [&](const TileDemand& demand, int64_t most_split) {
    return quick_tiles(caps, demand, most_split).front().us;
  };
  TileDemand rows = problem.rows();
  if (problem.has_much_of_common_window) rows.row.taps = problem.window.kernel[0];
  const double direct = us_of(rows, slices(problem.inputs));
  const int64_t macs = tiles.count * tiles.elements() * problem.inputs * problem.outputs;
  const double product = us_of({tiles.count, tiles.elements(), slices(problem.outputs), macs, {}, true}, 1);
  const LayerCosts layer(problem);
  const DeviceRates rates = device_rates(caps);
  const double texel = problem.precision == Precision::fp16 ? 8 : 16;
  const double transformed = 16 * static_cast<double>(tiles.elements() * tiles.count);
  const double weights = 4 * texel * static_cast<double>(tiles.elements()) * layer.inputs * layer.outputs;
  const double us_of_byte = 1e-3 / rates.gigabytes_per_s, overhead = rates.launch_us + rates.barrier_us;
  const double transforms =
      (layer.inputs + layer.outputs) * (texel * layer.pixels + transformed) * us_of_byte + 2 * overhead;
  const double loaded = ((layer.inputs + layer.outputs) * transformed + weights) * us_of_byte + overhead;
  return (transforms + std::max(product, loaded)) / direct;
}

// Returns the cost relative to a direct convolution. Returns nothing if Winograd is not worth measuring.
std::optional<double> winograd_cost(const ConvProblem& problem, const DeviceCaps& caps, const Tiles& tiles) {
  constexpr double kHopeless = 1.5;
  const LayerCosts layer(problem);
  const double bytes =
      16 * static_cast<double>(tiles.elements() * tiles.count) * std::max(layer.inputs, layer.outputs);
  // With fewer tiles the products cannot share loaded weights.
  if (tiles.count < 8 || layer.winograd(tiles) > kHopeless * layer.direct()) return std::nullopt;
  if (bytes > static_cast<double>(caps.max_storage_buffer_range)) return std::nullopt;
  return predicted_share(problem, caps, tiles).value_or(layer.winograd(tiles) / layer.direct());
}

// Returns the cost that decides the choice. Sessions that ask for Winograd get it before all other kernels,
// if it is predicted to be clearly quicker than a direct convolution. With Winograd::automatic only
// measurements choose it.
double preference(Winograd option, double relative) {
  constexpr double kAskedFor = 0.1, kClearly = 0.8;
  const bool wanted = option != Winograd::automatic && relative <= kClearly;
  return relative * (wanted ? kAskedFor : kOnlyIfMeasured);
}

void emit_winograd(Lowering& lowering, const ConvProblem& problem, int64_t side, const OutputTile& tile) {
  const Tiles tiles = tiles_of(problem, side);
  const ConvWeights weights{problem.inputs, problem.outputs, 1, tiles.elements(), tile.slices};
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId w = transformed_weights(lowering, weights, tiles.side);
  const TensorDesc desc = lowering.tensor(x).desc;
  const std::string& name = lowering.node().name;
  const TensorId v =
      lowering.workspace(name + "/winograd_input", transformed(lowering, desc, problem.inputs, tiles));
  transform_input(lowering, tiles, x, v, problem.window.padding[0], problem.window.padding[1]);
  const TensorId m =
      lowering.workspace(name + "/winograd_product", transformed(lowering, desc, problem.outputs, tiles));
  multiply(lowering, tiles, weights, tile, v, w, m);
  transform_output(lowering, tiles, weights, m, w, lowering.write(0, Layout::channels4), problem.activation);
}

// Returns whether options and precision allow tiles of this side. The weights of tiles of side 4 span too
// many magnitudes for fp16.
bool allows(const ConvProblem& problem, int64_t side) {
  if (problem.winograd == Winograd::off) return false;
  return side == 2 || (problem.winograd != Winograd::f2 && problem.precision != Precision::fp16);
}

}  // namespace

std::vector<KernelCandidate> winograd_candidates(const ConvProblem& problem, const DeviceCaps& caps) {
  std::vector<KernelCandidate> candidates;
  const Window2d& window = problem.window;
  if (problem.groups != 1 || !is_common_window(window, 0) || !is_common_window(window, 1)) return candidates;
  if (problem.computes_weights) return candidates;
  for (const int64_t side : {4, 2}) {
    if (!allows(problem, side)) continue;
    const Tiles tiles = whole_tiles(problem, side);
    const std::optional<double> relative = winograd_cost(problem, caps, tiles);
    if (!relative) continue;
    const int64_t macs = tiles.count * tiles.elements() * problem.inputs * problem.outputs;
    const bool ahead = device_traits(caps).slices_ahead_in_windows;
    for (const auto& [tile, cost, us] :
         output_tiles(caps, {tiles.count, tiles.elements(), slices(problem.outputs), macs, {}, ahead}))
      candidates.push_back({tile_name("winograd" + std::to_string(side), {tile}),
                            cost * preference(problem.winograd, *relative),
                            [problem, side, tile = tile](Lowering& lowering) {
                              emit_winograd(lowering, problem, side, tile);
                            }});
  }
  return candidates;
}

}  // namespace vellum

#include "kernels/conv/winograd.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/framework/activation.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/framework/grid.hpp"

namespace vellum {
namespace {

// Tiles of side x side output pixels, which transformed have places().
struct Tiles {
  int64_t side, across, down, count;
  int64_t span() const { return side + 2; }
  int64_t places() const { return span() * span(); }
};

Tiles tiles_of(const Lowering& lowering, int64_t side) {
  const auto [n, c, h, w] = nchw(lowering.output_type().shape);
  const int64_t across = divide_up(w, side), down = divide_up(h, side);
  return {side, across, down, n * across * down};
}

// Transformed tiles of `channels`: as `like` where that is within the limits of images, and in full
// precision, since what the transforms add up cancels again.
TensorDesc transformed(const Lowering& lowering, TensorDesc like, int64_t channels, const Tiles& tiles) {
  like.shape = {1, channels, tiles.places(), tiles.count};
  like.element = ElementType::f32;
  if (like.storage != Storage::buffer) like.storage = lowering.image_or_buffer(like.shape);
  return like;
}

using Row = std::array<double, 3>;

// G of shaders/winograd.glsl's tiles.
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

// G g G^T of each filter g of 3x3.
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
        [&](int64_t m, int64_t c, int64_t place) {
          return u[static_cast<size_t>((m * grid.inputs + c) * grid.taps + place)];
        },
        bias);
  };
  return packed_weights(lowering, weight_grid(lowering, grid.width(), grid.height()),
                        packing(lowering, "winograd " + grid.to_text(), std::move(make)));
}

void transform_input(Lowering& lowering, const Tiles& tiles, TensorId x, TensorId v, int64_t pad_left,
                     int64_t pad_top) {
  const Shape &x_shape = lowering.tensor(x).desc.shape, &v_shape = lowering.tensor(v).desc.shape;
  const Grid grid = grid_1d(lowering.caps(), tiles.count * slices(x_shape[1]));
  Dispatch dispatch;
  dispatch.shader = "winograd_input";
  dispatch.workgroup_size = grid.workgroup_size;
  dispatch.workgroup_count = grid.workgroup_count;
  dispatch.bindings = {{x, Access::read}, {v, Access::write}};
  dispatch.defines.emplace_back("SIDE", std::to_string(tiles.side));
  dispatch.push_constants = PushConstants()
                                .shape(x_shape)
                                .shape(v_shape)
                                .ints({tiles.across, tiles.down, pad_left, pad_top})
                                .bytes();
  lowering.dispatch(std::move(dispatch));
}

void multiply(Lowering& lowering, const Tiles& tiles, const ConvWeights& weights, const ConvTile& tile,
              TensorId v, TensorId w, TensorId m) {
  const int64_t invocations = divide_up(tiles.count, tile.pixels) * tiles.places() * weights.blocks();
  Dispatch dispatch = conv_dispatch(lowering, "winograd_product", invocations, v, w, m);
  define_tile(dispatch, tile);
  dispatch.push_constants =
      PushConstants().shape(lowering.tensor(v).desc.shape).shape(lowering.tensor(m).desc.shape).bytes();
  lowering.dispatch(std::move(dispatch));
}

void transform_output(Lowering& lowering, const Tiles& tiles, const ConvWeights& weights, TensorId m,
                      TensorId w, TensorId y, const Activation& activation) {
  const Shape& y_shape = lowering.tensor(y).desc.shape;
  const TensorId residual = read_residual(lowering);
  Dispatch dispatch = conv_dispatch(lowering, "winograd_output", tiles.count * slices(y_shape[1]), m, w, y);
  dispatch.defines.emplace_back("SIDE", std::to_string(tiles.side));
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(lowering.tensor(m).desc.shape).shape(y_shape);
  push_activation_or_bounds(constants, activation);
  constants.ints(
      {tiles.across, tiles.down, weights.blocks() * weights.tile_slices * weights.taps, weights.width()});
  if (residual != kNoTensor) add_residual(lowering, dispatch, constants, residual);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

// A texel's product with the weights of four channels is the unit of cost: four of them for each pair of
// slices and tap or place. To transform a place takes a load, a store and some additions: on lavapipe with
// buffers as much as a dozen units.
struct LayerCosts {
  double pixels, inputs, outputs;  // the last two in slices

  explicit LayerCosts(const Lowering& lowering) {
    const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
    pixels = static_cast<double>(n * height * width);
    inputs = static_cast<double>(slices(lowering.input_type(0).shape[1]));
    outputs = static_cast<double>(slices(channels));
  }
  double direct() const { return 36 * pixels * inputs * outputs; }
  double winograd(const Tiles& tiles) const {
    return static_cast<double>(tiles.count * tiles.places()) *
           (4 * inputs * outputs + 12 * (inputs + outputs));
  }
};

// Not worth measuring beyond so many times the cost of a direct convolution.
constexpr double kHopeless = 1.5;

}  // namespace

std::vector<int64_t> winograd_sides(const Lowering& lowering) {
  const Winograd choice = lowering.options().winograd;
  std::vector<int64_t> sides;
  if (choice == Winograd::off || computes_weights(lowering)) return sides;
  const LayerCosts layer(lowering);
  for (const int64_t side : {2, 4}) {
    // Weights of tiles of 4 span too many magnitudes for halves.
    if (side == 4 && (choice == Winograd::f2 || lowering.options().precision == Precision::fp16)) continue;
    const Tiles tiles = tiles_of(lowering, side);
    const double bytes =
        16 * static_cast<double>(tiles.places() * tiles.count) * std::max(layer.inputs, layer.outputs);
    // With fewer tiles the products have no neighbours to share loaded weights with.
    if (tiles.count < 8 || layer.winograd(tiles) > kHopeless * layer.direct()) continue;
    if (bytes <= static_cast<double>(lowering.caps().max_storage_buffer_range)) sides.push_back(side);
  }
  return sides;
}

int64_t winograd_side(const Lowering& lowering) {
  if (lowering.options().winograd == Winograd::automatic) return 0;
  const LayerCosts layer(lowering);
  double least = 0.8 * layer.direct();
  int64_t best = 0;
  for (const int64_t side : winograd_sides(lowering)) {
    const double costs = layer.winograd(tiles_of(lowering, side));
    if (costs > least) continue;
    least = costs;
    best = side;
  }
  return best;
}

std::vector<ConvTile> winograd_tiles(const Lowering& lowering, int64_t side) {
  const int64_t inputs = lowering.input_type(0).shape[1], outputs = lowering.output_type().shape[1];
  const Tiles tiles = tiles_of(lowering, side);
  return conv_tiles(lowering.caps(), tiles.count, tiles.places(), slices(outputs),
                    tiles.count * tiles.places() * inputs * outputs);
}

void lower_winograd(Lowering& lowering, int64_t side, const ConvTile& tile, int64_t pad_left, int64_t pad_top,
                    const Activation& activation) {
  const int64_t inputs = lowering.input_type(0).shape[1], outputs = lowering.output_type().shape[1];
  const Tiles tiles = tiles_of(lowering, side);
  const ConvWeights weights{inputs, outputs, 1, tiles.places(), tile.slices};
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId w = transformed_weights(lowering, weights, tiles.side);
  const TensorDesc desc = lowering.tensor(x).desc;
  const std::string& name = lowering.node().name;
  const TensorId v = lowering.workspace(name + "/winograd_input", transformed(lowering, desc, inputs, tiles));
  transform_input(lowering, tiles, x, v, pad_left, pad_top);
  const TensorId m =
      lowering.workspace(name + "/winograd_product", transformed(lowering, desc, outputs, tiles));
  multiply(lowering, tiles, weights, tile, v, w, m);
  transform_output(lowering, tiles, weights, m, w, lowering.write(0, Layout::channels4), activation);
}

}  // namespace vellum

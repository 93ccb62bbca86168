#include "kernels/conv/dense.hpp"

#include <algorithm>

#include "caps/device_policy.hpp"
#include "graph/operators/conv.hpp"
#include "kernels/conv/cooperative.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/groups.hpp"
#include "kernels/conv/winograd.hpp"

namespace vellum {
namespace {

// Of one axis.
bool is_common_window(int64_t kernel, int64_t stride, int64_t dilation) {
  return kernel == 3 && stride == 1 && dilation == 1;
}
bool is_common_window(const Window2d& window, size_t axis) {
  return is_common_window(window.kernel[axis], window.stride[axis], window.dilation[axis]);
}

// Whether dense convolutions of the graph with the common window along x make up many multiply-accumulates.
bool has_much_of_the_common_window(const Graph& graph, uint64_t much) {
  uint64_t macs = 0;
  for (const Node& node : graph.nodes) {
    const auto* conv = dynamic_cast<const Conv*>(node.op.get());
    if (!conv || conv->group != 1) continue;
    const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
    if (inputs[0].type.shape.size() > 4) continue;
    const WindowPlacement window = conv->place(inputs);
    if (is_common_window(window.kernel.back(), window.strides.back(), window.dilations.back()))
      macs += conv->macs(inputs);
    if (macs >= much) return true;  // most networks, after a few layers
  }
  return false;
}

// A way to compute a convolution that is neither depthwise nor pointwise.
struct DenseWay {
  int64_t winograd_side = 0;  // of its tiles; 0: directly
  bool columns_once = false;  // those of a row are loaded once for all taps
  ConvTile tile;
  bool by_groups = false;  // conv_groups.hpp

  std::string name() const {
    if (winograd_side > 0) return with_tile("winograd" + std::to_string(winograd_side), tile);
    if (by_groups) return with_tile("groups", tile);
    return with_tile(columns_once ? "direct rows" : "direct", tile);
  }
};

// The variant that loads the columns of a row once is for the most common window, and not where a network has
// little of it. (Sums are added up in another order, so that the parts of a layer that is split must not
// choose for themselves.)
std::vector<DenseWay> direct_ways(const Lowering& lowering, const Window2d& window, int64_t groups) {
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const int64_t inputs = lowering.input_type(0).shape[1] / groups;
  const int64_t macs = n * channels * height * width * window.taps() * inputs;
  const bool common = is_common_window(window, 0);
  const uint64_t much = device_policy(lowering.caps()).macs_worth_a_variant();
  const bool columns_once = common && has_much_of_the_common_window(lowering.graph(), much);
  std::vector<DenseWay> ways;
  const std::vector<ConvTile> tiles = conv_tiles(lowering.caps(), width, n * height, slices(channels), macs);
  for (const ConvTile& tile : tiles) ways.push_back({0, columns_once, tile});
  // The other variant with one tile: it is worth a try, but takes as long to compile as the first.
  if (common) ways.push_back({0, !columns_once, ways.front().tile});
  std::vector<DenseWay> more;
  for (const ConvTile& tile : group_tiles(lowering, groups)) more.push_back({0, false, tile, true});
  if (groups != 1) {
    ways.insert(ways.begin(), more.begin(), more.end());
    return ways;
  }
  for (const ConvTile& tile : cooperative_conv_tiles(lowering, n * height * width, inputs, channels))
    more.push_back({0, false, tile});
  // Of few tiles: each candidate takes the tuner a second.
  for (const ConvTile& tile : tiles_of_subgroups(
           lowering.caps(), {tiles.begin(), tiles.begin() + std::min<int64_t>(2, std::ssize(tiles))}, width,
           n * height))
    if (inputs >= 4) ways.push_back({0, false, tile});
  std::vector<DenseWay> in_parts;
  for (const ConvTile& tile :
       tiles_in_parts(lowering.caps(), width, n * height, slices(channels), slices(inputs), window.taps()))
    in_parts.push_back({0, columns_once, tile});
  ways.insert(ways.begin(), in_parts.begin(), in_parts.end());
  const bool preferred = prefers_cooperative(n * height * width, inputs * window.taps());
  ways.insert(preferred ? ways.begin() : ways.end(), more.begin(), more.end());
  return ways;
}

// All ways, that of the cost model first.
std::vector<DenseWay> dense_ways(const Lowering& lowering, const Window2d& window, int64_t groups) {
  std::vector<DenseWay> ways = direct_ways(lowering, window, groups);
  if (groups != 1 || !is_common_window(window, 0) || !is_common_window(window, 1)) return ways;
  const int64_t best = winograd_side(lowering);
  for (const int64_t side : winograd_sides(lowering)) {
    std::vector<DenseWay> more;
    for (const ConvTile& tile : winograd_tiles(lowering, side)) more.push_back({side, false, tile});
    ways.insert(side == best ? ways.begin() : ways.end(), more.begin(), more.end());
  }
  return ways;
}

void lower_by_matrices(Lowering& lowering, ConvTile tile, const Window2d& window,
                       const Activation& activation) {
  const ConvWeights weights = weights_for(lowering, 1, window.taps(), tile);
  const ConvExtras extras{.residual = read_residual(lowering)};
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  dispatch_cooperative(lowering, x, y, weights, *tile.cooperative, window, activation,
                       conv_values(lowering, weights), extras);
}

void lower_direct(Lowering& lowering, const DenseWay& way, const Window2d& window, int64_t groups,
                  const Activation& activation) {
  if (way.by_groups) return lower_groups(lowering, way.tile, window, groups, activation);
  if (way.tile.cooperative) return lower_by_matrices(lowering, way.tile, window, activation);
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const int64_t inputs = lowering.input_type(0).shape[1] / groups;
  ConvKernel kernel{"conv", way.tile, {}, 0, {}};
  kernel.weights = weights_for(lowering, groups, window.taps(), kernel.tile);
  kernel.invocations =
      whole_subgroups(lowering.caps(), kernel.tile, divide_up(width, kernel.tile.pixels) * height * n) *
      kernel.weights.blocks();
  kernel.defines.emplace_back("KERNEL_X", way.columns_once ? "3" : "0");
  kernel.defines.emplace_back("STRIDE_X", way.columns_once ? "1" : "0");
  if (inputs >= 4 && way.tile.is_plain() && should_multiply_halves(lowering))
    kernel.weights.run = way.columns_once ? ProductRun{1, 3} : kRunOfSlices;
  if (inputs % 4 != 0 && groups > 1) kernel.defines.emplace_back("UNEVEN_WINDOWS", "1");
  if (inputs < 4 && groups == 1) kernel.defines.emplace_back("CHANNELS", std::to_string(inputs));
  dispatch_conv(lowering, kernel, window, activation, conv_values(lowering, kernel.weights));
}

}  // namespace

void lower_dense(Lowering& lowering, const Window2d& window, int64_t groups, const Activation& activation) {
  const std::vector<DenseWay> ways = dense_ways(lowering, window, groups);
  std::vector<std::string> names;
  for (const DenseWay& way : ways) names.push_back(way.name());
  const DenseWay& way = ways[lowering.choose(std::move(names))];
  if (way.winograd_side == 0) return lower_direct(lowering, way, window, groups, activation);
  lower_winograd(lowering, way.winograd_side, way.tile, window.padding[0], window.padding[1], activation);
}

}  // namespace vellum

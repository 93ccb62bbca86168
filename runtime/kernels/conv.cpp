// Conv and ConvTranspose.
#include "graph/conv.hpp"

#include <algorithm>

#include "graph/conv_transpose.hpp"
#include "kernels/activation.hpp"
#include "kernels/conv_cooperative.hpp"
#include "kernels/conv_direct.hpp"
#include "kernels/conv_weights.hpp"
#include "kernels/conv_winograd.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/lowering.hpp"

namespace vellum {
namespace {

// Why the kernels cannot run the node; empty where they can.
std::string_view missing_kernel(const Lowering& lowering) {
  if (lowering.input_type(0).shape.size() > 4) return "it has three spatial dimensions";
  return {};
}

template <typename Op>
WindowPlacement place(const Lowering& lowering) {
  const OperatorInput inputs[] = {{true, lowering.input_type(0), nullptr},
                                  {true, lowering.input_type(1), nullptr}};
  return lowering.op<Op>().place(inputs);
}

// The window in two dimensions: a one-dimensional one lies along x, as nchw() has it.
struct Window2d {
  int64_t kernel[2], stride[2], dilation[2], padding[2], input[2], output[2];  // (x, y) each
  int64_t taps() const { return kernel[0] * kernel[1]; }
};

Window2d to_2d(WindowPlacement placement) {
  const WindowPlacement p = as_3d(std::move(placement));
  Window2d window{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const size_t from = 2 - axis;
    window.kernel[axis] = p.kernel[from];
    window.stride[axis] = p.strides[from];
    window.dilation[axis] = p.dilations[from];
    window.padding[axis] = p.pads_begin[from];
    window.input[axis] = p.input[from];
    window.output[axis] = p.output[from];
  }
  return window;
}

// The shaders count positions in 32 bits, and divide() takes less than 2^30.
bool fits_32_bits(const Window2d& window) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t reach = window.kernel[axis] * window.dilation[axis];  // factors below 2^30 each
    if (reach >= int64_t{1} << 30 ||
        (reach + window.input[axis] + window.output[axis] + 8) * window.stride[axis] + window.padding[axis] >=
            int64_t{1} << 30)
      return false;
  }
  return true;
}

void push_window(PushConstants& constants, const Window2d& w) {
  constants.ints({w.kernel[0], w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                  w.padding[0], w.padding[1]});
}

// --- Depthwise ---

// One texel row per slice: its taps, then the bias.
std::vector<float> pack_depthwise(int64_t channels, int64_t taps, const std::vector<float>& weights,
                                  const std::vector<float>& bias) {
  std::vector<float> texels(static_cast<size_t>(4 * slices(channels) * (taps + 1)));
  for (int64_t c = 0; c < channels; ++c) {
    float* row = texels.data() + c / 4 * 4 * (taps + 1) + c % 4;
    for (int64_t tap = 0; tap < taps; ++tap) row[4 * tap] = weights[static_cast<size_t>(c * taps + tap)];
    if (!bias.empty()) row[4 * taps] = bias[static_cast<size_t>(c)];
  }
  return texels;
}

// The common windows have variants that load each column of a row once; others share one shader.
void define_depthwise_window(Dispatch& dispatch, const Window2d& window) {
  const bool common =
      (window.kernel[0] == 3 || window.kernel[0] == 5) && window.stride[0] <= 2 && window.dilation[0] == 1;
  dispatch.defines.emplace_back("KERNEL_X", common ? std::to_string(window.kernel[0]) : "0");
  dispatch.defines.emplace_back("STRIDE_X", common ? std::to_string(window.stride[0]) : "0");
}

void lower_depthwise(Lowering& lowering, const Window2d& window, const Activation& activation) {
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const HostTensor weights = weights_of(lowering);
  const ConvTile tile = choose_tile(lowering, "depthwise",
                                    conv_tiles(lowering.caps(), width, height * n * slices(channels), 1, 0));
  const TensorId x = lowering.read(0, Layout::channels4);
  const auto make = [weights, channels = channels, taps = window.taps(), bias = bias_of(lowering)] {
    return pack_depthwise(channels, taps, weights.to_floats(), bias);
  };
  const TensorId grid = packed_weights(lowering, weight_grid(lowering, window.taps() + 1, slices(channels)),
                                       packing(lowering, "depthwise", make));
  const TensorId y = lowering.write(0, Layout::channels4);
  const int64_t invocations = divide_up(width, tile.pixels) * height * slices(channels) * n;
  Dispatch dispatch = conv_dispatch(lowering, "conv_depthwise", invocations, x, grid, y);
  dispatch.defines.emplace_back("TILE_P", std::to_string(tile.pixels));
  define_depthwise_window(dispatch, window);
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(lowering.input_type(0).shape).shape(lowering.output_type().shape);
  push_activation_or_bounds(constants, activation);
  push_window(constants, window);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

// --- Dense and grouped ---

// Blocks of as many output slices as the tile wants where that does not widen the window of input slices (it
// does in groups that are not whole blocks).
ConvWeights weights_for(const Lowering& lowering, int64_t groups, int64_t taps, ConvTile& tile) {
  ConvWeights weights{lowering.input_type(0).shape[1], lowering.output_type().shape[1], groups, taps, 1};
  const int64_t narrowest = weights.window_slices();
  for (weights.tile_slices = tile.slices; weights.window_slices() > narrowest;) weights.tile_slices /= 2;
  tile.slices = weights.tile_slices;
  return weights;
}

// What conv.comp and conv_transpose.comp share.
struct ConvKernel {
  const char* shader;
  ConvTile tile;
  ConvWeights weights;
  int64_t invocations;
  std::vector<std::pair<std::string, std::string>> defines;  // besides those of tile, activation and tensors
};

void dispatch_conv(Lowering& lowering, const ConvKernel& kernel, const Window2d& window,
                   const Activation& activation, WeightValues values) {
  const ConvWeights& weights = kernel.weights;
  const TensorId x = lowering.read(0, Layout::channels4);
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  const TensorId y = lowering.write(0, Layout::channels4);
  Dispatch dispatch = conv_dispatch(lowering, kernel.shader, kernel.invocations, x, grid, y);
  dispatch.defines = kernel.defines;
  define_tile(dispatch, kernel.tile);
  define_halves(dispatch, weights.run);
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(lowering.input_type(0).shape).shape(lowering.output_type().shape);
  push_activation_or_bounds(constants, activation);
  push_window(constants, window);
  constants.ints({weights.group_inputs(), weights.group_outputs(), weights.window_slices()});
  if (lowering.has_input(3)) add_residual(lowering, dispatch, constants, lowering.read(3, Layout::channels4));
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

// W (M, C / group, kernel...).
WeightValues conv_values(const Lowering& lowering, const ConvWeights& grid) {
  auto make = [grid, weights = weights_of(lowering), bias = bias_of(lowering)] {
    const std::vector<float> w = weights.to_floats();
    return grid.pack(
        [&](int64_t m, int64_t c, int64_t tap) {
          return w[static_cast<size_t>((m * grid.group_inputs() + c) * grid.taps + tap)];
        },
        bias);
  };
  return packing(lowering, "conv " + grid.to_text(), std::move(make));
}

// W (C, M / group, kernel...).
WeightValues conv_transpose_values(const Lowering& lowering, const ConvWeights& grid) {
  auto make = [grid, weights = weights_of(lowering), bias = bias_of(lowering)] {
    const std::vector<float> w = weights.to_floats();
    return grid.pack(
        [&](int64_t m, int64_t c, int64_t tap) {
          const int64_t input = m / grid.group_outputs() * grid.group_inputs() + c;
          return w[static_cast<size_t>((input * grid.group_outputs() + m % grid.group_outputs()) * grid.taps +
                                       tap)];
        },
        bias);
  };
  return packing(lowering, "conv_transpose " + grid.to_text(), std::move(make));
}

bool is_pointwise(const Window2d& window, const Shape& x, const Shape& y) {
  return window.taps() == 1 && window.stride[0] == 1 && window.stride[1] == 1 && window.padding[0] == 0 &&
         window.padding[1] == 0 && nchw(x)[2] == nchw(y)[2] && nchw(x)[3] == nchw(y)[3];
}

// Of one axis.
bool is_common_window(int64_t kernel, int64_t stride, int64_t dilation) {
  return kernel == 3 && stride == 1 && dilation == 1;
}
bool is_common_window(const Window2d& window, size_t axis) {
  return is_common_window(window.kernel[axis], window.stride[axis], window.dilation[axis]);
}

// Devices promise four buffers for a dispatch; images that are read may be sampled ones, of which there are
// more.
bool has_room_for_scale(const Lowering& lowering, TensorId x, const PointwiseExtras& extras) {
  const uint32_t tensors = extras.residual == kNoTensor ? 4 : 5;
  return lowering.tensor(x).desc.storage != Storage::buffer ||
         tensors <= lowering.caps().max_storage_buffers_per_stage;
}

TensorId scaled(Lowering& lowering, TensorId x, TensorId scale) {
  const TensorDesc desc = lowering.tensor(x).desc;
  const TensorId result = lowering.workspace(lowering.node().name + "/scaled", desc);
  combine(lowering, "Mul", {}, Layout::channels4, {x, desc.shape}, {scale, lowering.tensor(scale).desc.shape},
          {result, desc.shape});
  return result;
}

void lower_pointwise(Lowering& lowering, const Activation& activation) {
  const Shape& x_shape = lowering.input_type(0).shape;
  ConvTile tile = choose_pointwise_tile(lowering, x_shape, lowering.output_type().shape[1]);
  ConvWeights weights = weights_for(lowering, 1, 1, tile);
  if (tile.is_plain() && should_multiply_halves(lowering)) weights.run = kRunOfSlices;
  PointwiseExtras extras;
  if (lowering.has_input(3)) extras.residual = lowering.read(3, Layout::channels4);
  if (lowering.has_input(4)) extras.scale = lowering.read(4, Layout::channels4);
  TensorId x = lowering.read(0, Layout::channels4);
  if (extras.scale != kNoTensor && !has_room_for_scale(lowering, x, extras)) {
    x = scaled(lowering, x, extras.scale);
    extras.scale = kNoTensor;
  }
  const TensorId y = lowering.write(0, Layout::channels4);
  dispatch_pointwise(lowering, x, y, weights, tile, activation, conv_values(lowering, weights), extras);
}

// Whether dense convolutions of the graph with the common window along x make up many multiply-accumulates.
bool has_much_of_the_common_window(const Graph& graph) {
  constexpr uint64_t kMuch = uint64_t{1} << 24;
  uint64_t macs = 0;
  for (const Node& node : graph.nodes) {
    const auto* conv = dynamic_cast<const Conv*>(node.op.get());
    if (!conv || conv->group != 1) continue;
    const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
    if (inputs[0].type.shape.size() > 4) continue;
    const WindowPlacement window = conv->place(inputs);
    if (is_common_window(window.kernel.back(), window.strides.back(), window.dilations.back()))
      macs += conv->macs(inputs);
    if (macs >= kMuch) return true;  // most networks, after a few layers
  }
  return false;
}

// A way to compute a convolution that is neither depthwise nor pointwise.
struct DenseWay {
  int64_t winograd_side = 0;  // of its tiles; 0: directly
  bool columns_once = false;  // those of a row are loaded once for all taps
  ConvTile tile;

  std::string name() const {
    if (winograd_side > 0) return with_tile("winograd" + std::to_string(winograd_side), tile);
    return with_tile(columns_once ? "direct rows" : "direct", tile);
  }
};

// The variant that loads the columns of a row once runs a quarter faster, and takes 0.2 s to compile on
// lavapipe: for the most common window, and not where a network has little of it. (Sums are added up in
// another order, so that the parts of a layer that is split must not choose for themselves.)
std::vector<DenseWay> direct_ways(const Lowering& lowering, const Window2d& window, int64_t groups) {
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const int64_t inputs = lowering.input_type(0).shape[1] / groups;
  const int64_t macs = n * channels * height * width * window.taps() * inputs;
  const bool common = is_common_window(window, 0);
  const bool columns_once = common && has_much_of_the_common_window(lowering.graph());
  std::vector<DenseWay> ways;
  for (const ConvTile& tile : conv_tiles(lowering.caps(), width, n * height, slices(channels), macs))
    ways.push_back({0, columns_once, tile});
  // The other variant with one tile: it is worth a try, but takes as long to compile as the first.
  if (common) ways.push_back({0, !columns_once, ways.front().tile});
  if (groups != 1) return ways;
  std::vector<DenseWay> more;
  for (const ConvTile& tile : cooperative_conv_tiles(lowering, n * height * width, inputs, channels))
    more.push_back({0, false, tile});
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
  CooperativeWindow placement;
  for (size_t axis = 0; axis < 2; ++axis) {
    placement.kernel[axis] = window.kernel[axis];
    placement.stride[axis] = window.stride[axis];
    placement.dilation[axis] = window.dilation[axis];
    placement.padding[axis] = window.padding[axis];
  }
  PointwiseExtras extras;
  if (lowering.has_input(3)) extras.residual = lowering.read(3, Layout::channels4);
  const TensorId x = lowering.read(0, Layout::channels4), y = lowering.write(0, Layout::channels4);
  dispatch_cooperative(lowering, x, y, weights, *tile.cooperative, placement, activation,
                       conv_values(lowering, weights), extras);
}

void lower_direct(Lowering& lowering, const DenseWay& way, const Window2d& window, int64_t groups,
                  const Activation& activation) {
  if (way.tile.cooperative) return lower_by_matrices(lowering, way.tile, window, activation);
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  const int64_t inputs = lowering.input_type(0).shape[1] / groups;
  ConvKernel kernel{"conv", way.tile, {}, 0, {}};
  kernel.weights = weights_for(lowering, groups, window.taps(), kernel.tile);
  kernel.invocations = divide_up(width, kernel.tile.pixels) * height * kernel.weights.blocks() * n;
  kernel.defines.emplace_back("KERNEL_X", way.columns_once ? "3" : "0");
  if (inputs >= 4 && should_multiply_halves(lowering))
    kernel.weights.run = way.columns_once ? ProductRun{1, 3} : kRunOfSlices;
  if (inputs < 4 && groups == 1) kernel.defines.emplace_back("CHANNELS", std::to_string(inputs));
  dispatch_conv(lowering, kernel, window, activation, conv_values(lowering, kernel.weights));
}

void lower_dense(Lowering& lowering, const Window2d& window, int64_t groups, const Activation& activation) {
  const std::vector<DenseWay> ways = dense_ways(lowering, window, groups);
  std::vector<std::string> names;
  for (const DenseWay& way : ways) names.push_back(way.name());
  const DenseWay& way = ways[lowering.choose(std::move(names))];
  if (way.winograd_side == 0) return lower_direct(lowering, way, window, groups, activation);
  lower_winograd(lowering, way.winograd_side, way.tile, window.padding[0], window.padding[1], activation);
}

// Three spatial dimensions: the sums, then bias, then the activation.
void lower_volume(Lowering& lowering) {
  const Conv& conv = lowering.op<Conv>();
  if (lowering.has_input(3) || lowering.has_input(4))
    return lowering.run_on_host("a residual or scale of a convolution of volumes has no kernel");
  const Shape& shape = lowering.output_type().shape;
  const TensorId x = lowering.read(0, Layout::linear), w = lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::linear);
  const bool plain = !lowering.has_input(2) && !conv.activation;
  const TensorId sums = plain ? y : float_workspace(lowering, "sums", shape);
  convolve_directly(lowering, conv, x, w, sums);
  if (plain) return;
  const TensorId bias =
      lowering.has_input(2) ? lowering.read(2, Layout::linear) : float_weight(lowering, "bias", {1}, {0.0f});
  const int64_t values = lowering.has_input(2) ? shape[1] : 1;
  combine(lowering, "Add", conv.activation, Layout::linear, {sums, shape}, {bias, {values, 1, 1, 1}},
          {y, shape});
}

}  // namespace

void lower_conv(Lowering& lowering) {
  if (lowering.input_type(0).shape.size() == 5) return lower_volume(lowering);
  if (const std::string_view why = missing_kernel(lowering); !why.empty()) return lowering.run_on_host(why);
  const Conv& conv = lowering.op<Conv>();
  const Window2d window = to_2d(place<Conv>(lowering));
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  const Shape& x = lowering.input_type(0).shape;
  const Shape& y = lowering.output_type().shape;
  if ((lowering.has_input(3) || lowering.has_input(4)) && conv.group != 1)
    return lowering.run_on_host("it adds to or scales a convolution of groups");
  if (conv.group > 1 && conv.group == x[1] && x[1] == y[1])
    return lower_depthwise(lowering, window, conv.activation);
  if (conv.group == 1 && is_pointwise(window, x, y)) return lower_pointwise(lowering, conv.activation);
  if (lowering.has_input(4)) return lowering.run_on_host("it scales the input of a wider window");
  lower_dense(lowering, window, conv.group, conv.activation);
}

void lower_conv_transpose(Lowering& lowering) {
  if (const std::string_view why = missing_kernel(lowering); !why.empty()) return lowering.run_on_host(why);
  const ConvTranspose& conv = lowering.op<ConvTranspose>();
  const Window2d window = to_2d(place<ConvTranspose>(lowering));
  if (!fits_32_bits(window)) return lowering.run_on_host("its window is too large");
  const auto [n, channels, height, width] = nchw(lowering.output_type().shape);
  // Pixels of one phase have the same remainder by the stride, and are reached by the same taps.
  const int64_t phases = std::min(window.stride[0], width) * std::min(window.stride[1], height);
  const int64_t line = divide_up(width, window.stride[0]);
  const int64_t lines = divide_up(height, window.stride[1]) * phases * n;
  const auto [x_n, x_channels, x_height, x_width] = nchw(lowering.input_type(0).shape);
  const int64_t macs = n * x_channels * x_height * x_width * window.taps() * (channels / conv.group);
  const ConvTile tile =
      choose_tile(lowering, "transposed", conv_tiles(lowering.caps(), line, lines, slices(channels), macs));
  ConvKernel kernel{"conv_transpose", tile, {}, 0, {}};
  kernel.weights = weights_for(lowering, conv.group, window.taps(), kernel.tile);
  if (should_multiply_halves(lowering)) kernel.weights.run = kRunOfSlices;
  kernel.invocations = divide_up(line, kernel.tile.pixels) * lines * kernel.weights.blocks();
  dispatch_conv(lowering, kernel, window, conv.activation, conv_transpose_values(lowering, kernel.weights));
}

}  // namespace vellum

#include "kernels/conv/depthwise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "shaders/conv/conv_depthwise.h"
#include "shaders/conv/conv_depthwise_tile.h"

namespace vellum {
namespace {

// The texels of the boxes of a slice's taps (shaders/conv/conv_depthwise.comp): first column, first row, last
// column, last row.
constexpr int64_t kBoxTexels = 4;

// The filters of `channels` channels. With fp16 arithmetic a run is a row of taps.
struct Filters {
  int64_t channels = 0, taps = 0;
  ProductRun run = {};
  ByteWeightsPointer bytes = {};               // not null: the texels are bytes
  std::vector<ChannelTaps> channel_taps = {};  // with it they are no bytes

  int64_t width() const {
    return taps + (bytes ? 4 * bytes->words() : run.of_halves() ? 3 : 1) + (has_boxes() ? kBoxTexels : 0);
  }
  bool has_boxes() const { return !channel_taps.empty(); }
  void pack_boxes(std::vector<float>& texels) const;
  std::vector<float> pack(std::vector<float> weights, const std::vector<float>& bias) const;
  std::vector<std::byte> pack_bytes(const std::vector<float>& weights, const std::vector<float>& bias) const;
};

// Scales the weights of a channel for fp16 arithmetic, and returns the scale of their runs.
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

// Writes the last texels of each row.
void Filters::pack_boxes(std::vector<float>& texels) const {
  int64_t c = 0;
  for (const ChannelTaps& run_of_channels : channel_taps) {
    const auto &first = run_of_channels.first, &count = run_of_channels.count;
    const std::array<int64_t, kBoxTexels> box{first[2], first[1], first[2] + count[2] - 1,
                                              first[1] + count[1] - 1};
    for (const int64_t end = c + run_of_channels.channels; c < end; ++c)
      for (int64_t i = 0; i < kBoxTexels; ++i)
        texels[static_cast<size_t>((c / 4 * width() + width() - kBoxTexels + i) * 4 + c % 4)] =
            static_cast<float>(box[static_cast<size_t>(i)]);
  }
}

// One texel row for each slice: the taps, then the bias, then with fp16 arithmetic the scale of the runs,
// then the box of taps if channels differ in it.
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
  pack_boxes(texels);
  return texels;
}

// With 8-bit weights the bias, divided by its scale, and the scale take four words each.
std::vector<std::byte> Filters::pack_bytes(const std::vector<float>& weights,
                                           const std::vector<float>& bias) const {
  ByteTexels texels(static_cast<size_t>(slices(channels) * width()), *bytes);
  for (int64_t c = 0; c < 4 * slices(channels); ++c) {
    const auto row = static_cast<size_t>(c / 4 * width()), behind = row + static_cast<size_t>(taps + c % 4);
    const bool exists = c < channels;
    for (int64_t tap = 0; exists && tap < taps; ++tap)
      texels.set_weight(row + static_cast<size_t>(tap), static_cast<size_t>(c % 4),
                        weights[static_cast<size_t>(c * taps + tap)], bytes->unit(c));
    for (size_t word = 0; word < static_cast<size_t>(bytes->words()); ++word)
      texels.set_word(
          behind + 4 * word,
          bytes->word(word, c, exists && !bias.empty() ? &bias[static_cast<size_t>(c)] : nullptr));
  }
  return texels.take();
}

WeightValues filter_values(const Lowering& lowering, const Filters& filters, size_t input) {
  const HostTensor weights = weights_of(lowering, input);
  const std::vector<float> bias = bias_of(lowering, input);
  const int64_t fp16_taps = filters.run.of_halves() ? filters.run.taps : 0;
  Packing packing{PackingScheme::depthwise, {fp16_taps}};
  for (const ChannelTaps& taps : filters.channel_taps) {
    packing.parameters.push_back(taps.channels);
    std::ranges::copy(taps.first, std::back_inserter(packing.parameters));
    std::ranges::copy(taps.count, std::back_inserter(packing.parameters));
  }
  if (filters.bytes)
    std::ranges::copy(filters.bytes->packing_parameters(), std::back_inserter(packing.parameters));
  WeightValues values = values_of_packing(
      lowering, std::move(packing), [=] { return filters.pack(weights.to_floats(), bias); }, input);
  if (filters.bytes) values.make_bytes = [=] { return filters.pack_bytes(weights.to_floats(), bias); };
  return values;
}

// Returns whether the columns of a row are loaded once for all taps.
bool has_common_columns(const Window2d& window) {
  return (window.kernel[0] == 3 || window.kernel[0] == 5) && window.stride[0] <= 2 && window.dilation[0] == 1;
}

// Common windows have shader variants that load each column of a row once. All other windows share a variant.
void define_depthwise_window(Dispatch& dispatch, const Window2d& window) {
  const bool common = has_common_columns(window);
  dispatch.defines.emplace_back("KERNEL_X", common ? std::to_string(window.kernel[0]) : "0");
  dispatch.defines.emplace_back("STRIDE_X", common ? std::to_string(window.stride[0]) : "0");
}

// The tensors of both depthwise kernels.
struct DepthwiseTensors {
  TensorId x, grid, y, residual;
};

TensorId packed_filters(Lowering& lowering, const Filters& filters, size_t input) {
  const TensorDesc desc = weight_grid(lowering, filters.width(), slices(filters.channels));
  return packed_weights(lowering, filters.bytes ? in_bytes(desc, *filters.bytes) : desc,
                        filter_values(lowering, filters, input));
}

// Returns the tensors. `y`: a tensor to write in place of the node's output, which then has no residual;
// kNoTensor: the node's output.
DepthwiseTensors read_and_write(Lowering& lowering, const Filters& filters, TensorId y,
                                const DepthwiseSource& source) {
  const TensorId x = source.x != kNoTensor ? source.x : lowering.read(0, Layout::channels4);
  const TensorId grid = packed_filters(lowering, filters, source.filters);
  if (y != kNoTensor) return {x, grid, y, kNoTensor};
  y = lowering.write(0, Layout::channels4);
  return {x, grid, y, read_residual(lowering)};
}

// Makes a dispatch compute means: all invocations of a workgroup compute the same slice and add up its sum.
void take_means(Dispatch& dispatch, const std::array<int64_t, 3>& workgroups, const DepthwiseMeans& means) {
  means.add(dispatch);
  dispatch.workgroup_size = {kRowWorkgroup, 1, 1};
  for (size_t i = 0; i < 3; ++i) dispatch.workgroup_count[i] = static_cast<uint32_t>(workgroups[i]);
  define(dispatch, "UNIFORM_SLICES");
  define(dispatch, "MEANS");
  dispatch.workgroups_cooperate = true;
  dispatch.fused = FusedKernelId::squeeze_excite;
}

// Adds the dispatch. `tiles`: the number of tiles of one slice of one image.
void dispatch_depthwise(Lowering& lowering, const ConvProblem& problem, const Filters& filters,
                        const DepthwiseTensors& tensors, int64_t tiles, Dispatch dispatch,
                        const DepthwiseMeans& means = {}) {
  const int64_t planes = slices(problem.outputs);
  dispatch.macs = static_cast<uint64_t>(problem.images * problem.height * problem.width * problem.outputs *
                                        problem.window.taps());
  dispatch.iterations =
      kShortLoops + window_iterations(problem.window.kernel[0], problem.window.kernel[1], 0);
  if (means.add)
    take_means(dispatch, {divide_up(tiles, kRowWorkgroup), planes, problem.images}, means);
  else
    cover_blocks(dispatch, lowering.caps(), lowering.tensor(tensors.grid).desc.storage, {},
                 {tiles, planes, problem.images}, tiles * planes * problem.images);
  define_halves(dispatch, filters.run);
  add_byte_weights(lowering, dispatch, filters.bytes);
  define_results(lowering, dispatch, problem.activation);
  add_extras(dispatch, {.residual = tensors.residual}, problem.images);
  lowering.dispatch(std::move(dispatch));
}

void emit_depthwise(Lowering& lowering, const ConvProblem& problem, const OutputTile& tile, TensorId output,
                    const DepthwiseSource& source) {
  const Window2d& window = problem.window;
  const int64_t channels = problem.outputs;
  Filters filters{.channels = channels, .taps = window.taps(), .channel_taps = problem.channel_taps};
  constexpr int64_t kMostInARun = 16;
  if (window.kernel[0] <= kMostInARun && !problem.scales_sums && should_multiply_halves(lowering))
    filters.run = {1, window.kernel[0]};
  else if (!filters.has_boxes())
    filters.bytes = byte_weights(lowering, source.filters);
  const bool is_whole_node = source.x == kNoTensor && output == kNoTensor;
  if (is_whole_node) filters.bytes = in_steps(lowering, filters.bytes, problem.activation);
  const DepthwiseTensors tensors = read_and_write(lowering, filters, output, source);
  const auto& [x, grid, y, residual] = tensors;
  const int64_t columns = divide_up(problem.width, tile.pixels) * problem.height;
  Dispatch dispatch = make_dispatch(
      "conv_depthwise", {}, {reads("x", x), reads("w", grid), writes("y", y)},
      ConvDepthwiseParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                              .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                              .activation_params = activation_params_or_bounds(problem.activation),
                              .residual_shape = residual_shape(lowering, residual),
                              .kernel_size = window_pair(window.kernel),
                              .stride = window_pair(window.stride),
                              .dilation = window_pair(window.dilation),
                              .padding = window_pair(window.padding)});
  define_tile(dispatch, {tile});
  define_depthwise_window(dispatch, window);
  if (has_common_columns(window) && window.padding[0] >= 0 && !lowering.tensor(x).desc.rows_first &&
      loads_four_pixels(lowering, x, tile, window.input[0])) {
    dispatch.bindings[0] = reads_words4("x", x);
    define(dispatch, "FOUR_PIXELS");
    define(dispatch, "PADDING_X", std::to_string(window.padding[0]));
  }
  if (filters.has_boxes()) define(dispatch, "TAP_BOXES");
  dispatch_depthwise(lowering, problem, filters, tensors, columns, std::move(dispatch));
}

// --- Tiles of several rows (conv_depthwise_tile.comp) ---

// Returns how many rows or columns beyond the end of x the last tile reads; 0 if none.
int64_t padding_after(const Window2d& window, size_t axis) {
  return std::max<int64_t>(0, (window.output[axis] - 1) * window.stride[axis] + window.kernel[axis] -
                                  window.padding[axis] - window.input[axis]);
}

int64_t tiles_of(const ConvProblem& problem, const PixelTile& tile) {
  return divide_up(problem.width, tile.pixels) * divide_up(problem.height, tile.rows);
}

void emit_depthwise_tile(Lowering& lowering, const ConvProblem& problem, const PixelTile& tile,
                         TensorId output, const DepthwiseSource& source, const DepthwiseMeans& means = {}) {
  const Window2d& window = problem.window;
  const int64_t channels = problem.outputs, kernel = window.kernel[0];
  Filters filters{channels, window.taps()};
  if (should_multiply_halves(lowering))
    filters.run = {1, kernel};
  else
    filters.bytes = byte_weights(lowering, source.filters);
  const DepthwiseTensors tensors = read_and_write(lowering, filters, output, source);
  const auto& [x, grid, y, residual] = tensors;
  Dispatch dispatch = make_dispatch(
      "conv_depthwise_tile", {}, {reads("x", x), reads("w", grid), writes("y", y)},
      ConvDepthwiseTileParameters{.x_shape = texel_shape(lowering.tensor(x).desc.shape),
                                  .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                                  .activation_params = activation_params_or_bounds(problem.activation),
                                  .residual_shape = residual_shape(lowering, residual),
                                  .hidden_params = means.hidden_params,
                                  .gate_params = means.gate_params,
                                  .padding = window_pair(window.padding),
                                  .hidden_channels = means.hidden_channels,
                                  .counter = means.counter});
  for (const auto& [macro, number] : {std::pair{"TILE_P", tile.pixels},
                                      {"TILE_Q", tile.rows},
                                      {"KERNEL", kernel},
                                      {"STRIDE_X", window.stride[0]},
                                      {"STRIDE_Y", window.stride[1]},
                                      {"LEFT", window.padding[0]},
                                      {"RIGHT", padding_after(window, 0)},
                                      {"TOP", std::max<int64_t>(0, window.padding[1])},
                                      {"BOTTOM", padding_after(window, 1)}})
    dispatch.defines.emplace_back(macro, std::to_string(number));
  dispatch_depthwise(lowering, problem, filters, tensors, tiles_of(problem, tile), std::move(dispatch),
                     means);
}

std::optional<PixelTile> preferred_tile(const ConvProblem& problem, const DeviceCaps& caps) {
  if (!has_unrolled_taps(problem.window) || !problem.channel_taps.empty()) return std::nullopt;
  return depthwise_tile(caps,
                        {problem.width, problem.whole_height, problem.whole_images * slices(problem.outputs),
                         problem.window.kernel[0], problem.window.stride[0], problem.window.stride[1]});
}

// The cost relative to conv_depthwise.comp: half of its instructions and half of its loads.
constexpr double kTileCost = 0.5;

}  // namespace

bool has_unrolled_taps(const Window2d& window) {
  const int64_t kernel = window.kernel[0];
  return (kernel == 3 || kernel == 5) && window.kernel[1] == kernel && window.stride[0] <= 2 &&
         window.stride[1] <= 2 && window.dilation[0] == 1 && window.dilation[1] == 1;
}

ConvProblem depthwise_problem(int64_t images, int64_t channels, const Window2d& window,
                              const Activation& activation, Precision precision) {
  return {.images = images,
          .inputs = channels,
          .outputs = channels,
          .height = window.output[1],
          .width = window.output[0],
          .whole_images = images,
          .whole_height = window.output[1],
          .whole_stays_inside = stays_inside(window),
          .window = window,
          .groups = channels,
          .activation = activation,
          .precision = precision};
}

std::optional<MeansTile> means_tile(const ConvProblem& problem, const DeviceCaps& caps) {
  if (!has_unrolled_taps(problem.window)) return std::nullopt;
  const std::optional<PixelTile> preferred = preferred_tile(problem, caps);
  const auto means_of = [&](const PixelTile& tile) {
    const int64_t tiles = tiles_of(problem, tile);
    const bool fills_rows = grid_of_rows(caps, tiles, slices(problem.outputs), problem.images).has_value();
    return MeansTile{tile, divide_up(tiles, kRowWorkgroup), preferred && fills_rows};
  };
  const MeansTile wide = means_of(preferred.value_or(PixelTile{}));
  return wide.pays ? wide : means_of({});
}

int64_t means_workgroup() { return kRowWorkgroup; }

void emit_depthwise_means(Lowering& lowering, const ConvProblem& problem, const MeansTile& tile, TensorId y,
                          const DepthwiseSource& source, const DepthwiseMeans& means) {
  emit_depthwise_tile(lowering, problem, tile.tile, y, source, means);
}

TensorId depthwise_filters(Lowering& lowering, size_t input) {
  const Shape& shape = lowering.input_type(input).shape;
  Filters filters{shape[0], element_count(shape) / shape[0]};
  filters.bytes = byte_weights(lowering, input);
  return packed_filters(lowering, filters, input);
}

void define_filters(const Lowering& lowering, Dispatch& dispatch, TensorId filters) {
  if (lowering.tensor(filters).desc.element == ElementType::q8) define(dispatch, "BYTE_FILTERS");
}

std::vector<KernelCandidate> depthwise_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                                  TensorId y, const DepthwiseSource& source) {
  std::vector<KernelCandidate> candidates;
  // The kernel for several rows does not add integers.
  if (const std::optional<PixelTile> tile = preferred_tile(problem, caps); tile && !problem.adds_integers)
    candidates.push_back({{"depthwise rows", std::to_string(tile->pixels) + "x" + std::to_string(tile->rows)},
                          kTileCost,
                          [problem, y, source, tile = *tile](Lowering& lowering) {
                            emit_depthwise_tile(lowering, problem, tile, y, source);
                          }});
  const int64_t lines = problem.whole_lines() * slices(problem.outputs);
  for (const auto& [tile, cost, us] : output_tiles(caps, {problem.width, lines, 1, 0}))
    candidates.push_back(
        {tile_name("depthwise", {tile}), cost, [problem, y, source, tile = tile](Lowering& lowering) {
           emit_depthwise(lowering, problem, tile, y, source);
         }});
  return candidates;
}

}  // namespace vellum

#include "kernels/conv_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "caps/driver_traits.hpp"
#include "kernels/activation.hpp"
#include "kernels/conv_cooperative.hpp"
#include "kernels/grid.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// First input slice of the block that begins with output channel `first`: what the shaders compute.
int64_t first_input_slice(const ConvWeights& w, int64_t first) {
  return first / w.group_outputs() * w.group_inputs() / 4;
}

// CPU drivers want big tiles, for a load costs as much as twenty multiplications and few invocations keep
// them busy already. A tile of 4 pixels reaches about 0.7 of the throughput of one of 8, so the larger wins
// unless it idles more.
int64_t cpu_tile_pixels(int64_t length) {
  if (length <= 1) return 1;
  const int64_t wide = divide_up(length, 8) * 8, narrow = divide_up(length, 4) * 4;
  return 10 * narrow >= 7 * wide ? 8 : 4;
}

// Tiles of four slices compile twice as long (by 0.2 s on lavapipe) and run a fifth faster: for large
// operators only.
int64_t cpu_tile_slices(int64_t output_slices, int64_t macs) {
  constexpr int64_t kLarge = int64_t{3} << 24;
  if (output_slices % 4 == 0 && macs >= kLarge) return 4;
  return output_slices > 1 ? 2 : 1;
}

// With 64 the loop over the weights of a subgroup is unrolled for 16 slices of input channels already.
bool can_share_by_subgroups(const DeviceCaps& caps) {
  const uint32_t size = caps.subgroup_size;
  return caps.full_subgroups && caps.subgroup_broadcast && size >= 4 && size <= 64 &&
         (size & (size - 1)) == 0;
}

// Parts of sums over so many input slices, where `invocations` would compute them whole: split-K. GPUs want
// thousands of invocations, and a part must be worth its store and load.
int64_t parts_of_sums(const DeviceCaps& caps, int64_t invocations, int64_t input_slices) {
  constexpr int64_t kEnough = 1 << 13, kShortest = 16, kMost = 16;
  int64_t parts = 1;
  while (caps.type != DeviceType::cpu && 2 * parts <= kMost && 2 * parts * invocations <= kEnough &&
         input_slices >= 2 * parts * kShortest)
    parts *= 2;
  return parts;
}

// The largest sum of magnitudes of the weights in a run; `texels` begin with those of one output channel.
double largest_run(const ConvWeights& w, const float* texels) {
  const int64_t columns = w.width();
  double largest = 0.0;
  for (int64_t tap = 0; tap < w.taps; tap += w.run.taps)
    for (int64_t column = 0; column < columns; column += 4 * w.run.slices) {
      double sum = 0.0;
      for (int64_t t = tap; t < std::min(tap + w.run.taps, w.taps); ++t)
        for (int64_t c = column; c < std::min(column + 4 * w.run.slices, columns); ++c)
          sum += std::abs(static_cast<double>(texels[4 * (t * columns + c)]));
      largest = std::max(largest, sum);
    }
  return largest;
}

void scale_runs(const ConvWeights& w, std::vector<float>& texels) {
  const int64_t columns = w.width(), rows = w.blocks() * w.tile_slices;
  for (int64_t m = 0; m < w.outputs; ++m) {
    float* weights = texels.data() + m / 4 * 4 * w.taps * columns + m % 4;
    const RunScale scale = run_scale(largest_run(w, weights));
    for (int64_t i = 0; i < w.taps * columns; ++i)
      weights[4 * i] = std::ldexp(weights[4 * i], -scale.exponent);
    float* behind = texels.data() + 4 * (rows * w.taps * columns + m / 4) + m % 4;
    behind[4 * rows] = scale.first();
    behind[8 * rows] = scale.second();
  }
}

}  // namespace

ConvTile choose_conv_tile(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                          int64_t macs) {
  if (caps.type == DeviceType::cpu) return {cpu_tile_pixels(length), cpu_tile_slices(output_slices, macs)};
  // GPUs hold 4 x 2 texels of sums in registers, but want thousands of invocations first.
  constexpr int64_t kEnough = 1 << 14;
  ConvTile tile{length > 1 ? 4 : 1, output_slices > 1 ? 2 : 1};
  const auto invocations = [&] {
    return divide_up(length, tile.pixels) * lines * divide_up(output_slices, tile.slices);
  };
  if (invocations() < kEnough) tile.slices = 1;
  if (invocations() < kEnough) tile.pixels = 1;
  return tile;
}

std::vector<ConvTile> conv_tiles(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                                 int64_t macs) {
  const ConvTile first = choose_conv_tile(caps, length, lines, output_slices, macs);
  std::vector<ConvTile> tiles{first};
  // On a CPU tiles of less than four pixels, or of one slice of many, were never the quickest: what is loaded
  // weighs most.
  const bool cpu = caps.type == DeviceType::cpu;
  const int64_t fewest_pixels = cpu ? std::min<int64_t>(first.pixels, 4) : 1;
  const int64_t fewest_slices = cpu && output_slices >= 4 ? 2 : 1;
  const auto useful = [](int64_t size, int64_t fewest, int64_t of) {
    return size >= fewest && (size < 2 * of || size == 1);
  };
  for (const int64_t pixels : {8, 4, 2, 1})
    for (const int64_t slices : {4, 2, 1})
      if (useful(pixels, fewest_pixels, length) && useful(slices, fewest_slices, output_slices) &&
          (pixels != first.pixels || slices != first.slices))
        tiles.push_back({pixels, slices});
  return tiles;
}

std::vector<ConvTile> cooperative_conv_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                             int64_t outputs) {
  if (lowering.options().precision != Precision::fp16) return {};
  std::vector<ConvTile> tiles;
  for (const CooperativeTile& tile : cooperative_tiles(lowering.caps(), pixels, inputs, outputs))
    tiles.push_back({.cooperative = tile});
  return tiles;
}

std::vector<ConvTile> pointwise_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                      int64_t outputs) {
  const DeviceCaps& caps = lowering.caps();
  const int64_t macs = pixels * inputs * outputs;
  std::vector<ConvTile> tiles = conv_tiles(caps, pixels, 1, slices(outputs), macs);
  ConvTile shared = tiles.front();
  shared.parts = parts_of_sums(
      caps, divide_up(pixels, shared.pixels) * divide_up(slices(outputs), shared.slices), slices(inputs));
  const size_t count = can_share_by_subgroups(caps) ? tiles.size() : 0;
  for (size_t i = 0; i < count; ++i)
    if (divide_up(pixels, tiles[i].pixels) >= caps.subgroup_size)  // else some have nothing to do
      tiles.push_back({tiles[i].pixels, tiles[i].slices, true});
  if (broadcasts_are_cheaper_than_loads(caps)) {
    const ConvTile first = tiles.front();
    const auto same = std::find_if(tiles.begin(), tiles.end(), [&](const ConvTile& tile) {
      return tile.by_subgroups && tile.pixels == first.pixels && tile.slices == first.slices;
    });
    if (same != tiles.end()) std::swap(tiles.front(), *same);
  }
  if (shared.parts > 1) tiles.insert(tiles.begin(), shared);
  const std::vector<ConvTile> cooperative = cooperative_conv_tiles(lowering, pixels, inputs, outputs);
  tiles.insert(prefers_cooperative(pixels, inputs) ? tiles.begin() : tiles.end(), cooperative.begin(),
               cooperative.end());
  return tiles;
}

std::string with_tile(std::string_view kernel, const ConvTile& tile) {
  if (tile.cooperative) return tile.cooperative->name();
  return std::string(kernel) + " " + std::to_string(tile.pixels) + "x" + std::to_string(tile.slices) +
         (tile.by_subgroups ? " subgroups" : "") +
         (tile.parts > 1 ? " in " + std::to_string(tile.parts) + " parts" : "");
}

ConvTile choose_tile(Lowering& lowering, std::string_view kernel, const std::vector<ConvTile>& tiles) {
  std::vector<std::string> candidates;
  for (const ConvTile& tile : tiles) candidates.push_back(with_tile(kernel, tile));
  return tiles[lowering.choose(std::move(candidates))];
}

int64_t ConvWeights::blocks() const { return divide_up(slices(outputs), tile_slices); }

int64_t ConvWeights::window_slices() const {
  int64_t widest = 1;
  for (int64_t block = 0; block < blocks(); ++block) {
    const int64_t first = 4 * tile_slices * block;
    const int64_t last = std::min(first + 4 * tile_slices, outputs) - 1;
    const int64_t end = (last / group_outputs() + 1) * group_inputs();
    widest = std::max(widest, slices(end) - first_input_slice(*this, first));
  }
  return widest;
}

int64_t ConvWeights::height() const {
  const int64_t rows = blocks() * tile_slices;
  return rows * taps + divide_up(run.of_halves() ? 3 * rows : rows, width());
}

std::vector<float> ConvWeights::pack(const WeightAt& weight, const std::vector<float>& bias) const {
  const int64_t columns = width(), channels = group_inputs();
  std::vector<float> texels(static_cast<size_t>(4 * columns * height()));
  const auto texel = [&](int64_t row, int64_t column) {
    return texels.data() + 4 * (row * columns + column);
  };
  for (int64_t m = 0; m < outputs; ++m) {
    const int64_t first = m / (4 * tile_slices) * 4 * tile_slices;
    const int64_t shift = m / group_outputs() * channels - 4 * first_input_slice(*this, first);
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c) texel(m / 4 * taps + tap, shift + c)[m % 4] = weight(m, c, tap);
  }
  const int64_t bias_row = blocks() * tile_slices * taps;
  for (size_t m = 0; m < bias.size(); ++m) texel(bias_row, static_cast<int64_t>(m / 4))[m % 4] = bias[m];
  if (run.of_halves()) scale_runs(*this, texels);
  return texels;
}

// Without groups, blocks only decide how many empty rows follow, which the extent of the grid tells already.
std::string ConvWeights::to_text() const {
  std::string text = "grid";
  for (const int64_t value : {inputs, outputs, groups, taps, groups > 1 ? tile_slices : 0})
    text += " " + std::to_string(value);
  if (run.of_halves()) text += " halves " + std::to_string(run.slices) + " " + std::to_string(run.taps);
  return text;
}

TensorDesc weight_grid(const Lowering& lowering, int64_t width, int64_t height) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (width > kMost || height > kMost || width * height > kMost)
    throw Error(ErrorCode::unsupported, describe(lowering.node()) + ": its weights take " +
                                            std::to_string(width) + " x " + std::to_string(height) +
                                            " texels, more than any device holds");
  return lowering.texel_grid(static_cast<uint32_t>(width), static_cast<uint32_t>(height));
}

bool computes_weights(const Lowering& lowering) {
  for (size_t i = 1; i <= 2; ++i)
    if (lowering.has_input(i) && !lowering.constant(i)) return true;
  return false;
}

HostTensor constant_or_numbers(const Lowering& lowering, size_t i, int64_t first) {
  if (!computes_weights(lowering)) return *lowering.constant(i);
  HostTensor numbers(DType::f32, lowering.input_type(i).shape);
  // Floats are whole numbers up to there.
  if (first + numbers.elements() > int64_t{1} << 24)
    throw Error(ErrorCode::unsupported,
                describe(lowering.node()) + ": more than 2^24 weights that are computed at run time");
  for (float& number : numbers.mutable_as<float>()) number = static_cast<float>(first++);
  return numbers;
}

HostTensor weights_of(const Lowering& lowering) { return constant_or_numbers(lowering, 1, 1); }

std::vector<float> bias_of(const Lowering& lowering) {
  if (!lowering.has_input(2)) return {};
  const int64_t weights = element_count(lowering.input_type(1).shape);
  return constant_or_numbers(lowering, 2, weights + 1).to_floats();
}

WeightValues packing(const Lowering& lowering, std::string name, std::function<std::vector<float>()> make) {
  WeightOrigin origin{std::move(name), {}};
  for (size_t i = 1; i <= 2; ++i)
    if (const HostTensor* constant = lowering.constant(i)) origin.sources.push_back(*constant);
  WeightValues values(std::move(make), std::move(origin));
  values.numbers = computes_weights(lowering);
  return values;
}

TensorId packed_weights(Lowering& lowering, const TensorDesc& desc, WeightValues values) {
  const std::string& name = lowering.node().name;
  if (!values.numbers) return lowering.weight(name + "/weights", desc, std::move(values));
  std::vector<int64_t> numbers;
  for (const float number : values.make()) numbers.push_back(static_cast<int64_t>(number));
  const auto count = static_cast<int64_t>(numbers.size());
  const TensorId table = lowering.integer_weight(name + "/packing", {count}, std::move(numbers));
  const TensorId w = lowering.read(1, Layout::linear);
  const TensorId packed = lowering.workspace(name + "/weights", desc);
  const Grid grid = grid_1d(lowering.caps(), count / 4);
  Dispatch dispatch;
  dispatch.shader = "pack_weights";
  dispatch.workgroup_size = grid.workgroup_size;
  dispatch.workgroup_count = grid.workgroup_count;
  dispatch.bindings = {{table, Access::read}, {w, Access::read}, {packed, Access::write}};
  if (lowering.has_input(2)) {
    dispatch.bindings.push_back({lowering.read(2, Layout::linear), Access::read});
    dispatch.defines.emplace_back("BIAS", "1");
  }
  dispatch.push_constants =
      PushConstants().shape(desc.shape).ints({element_count(lowering.input_type(1).shape)}).bytes();
  lowering.dispatch(std::move(dispatch));
  return packed;
}

Dispatch conv_dispatch(const Lowering& lowering, std::string shader, int64_t invocations, TensorId x,
                       TensorId w, TensorId y) {
  const Grid grid = grid_1d(lowering.caps(), invocations);
  Dispatch dispatch;
  dispatch.shader = std::move(shader);
  dispatch.workgroup_size = grid.workgroup_size;
  dispatch.workgroup_count = grid.workgroup_count;
  dispatch.bindings = {{x, Access::read}, {w, Access::read}, {y, Access::write}};
  return dispatch;
}

void define_tile(Dispatch& dispatch, const ConvTile& tile) {
  dispatch.defines.emplace_back("TILE_P", std::to_string(tile.pixels));
  dispatch.defines.emplace_back("TILE_S", std::to_string(tile.slices));
}

void add_residual(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants, TensorId residual) {
  constants.shape(lowering.tensor(residual).desc.shape);
  dispatch.bindings.push_back({.tensor = residual, .same_position = true});
  dispatch.defines.emplace_back("RESIDUAL", "1");
}

namespace {

// SCALE says which binding it is.
void add_scale(Dispatch& dispatch, TensorId scale, int64_t images) {
  dispatch.defines.emplace_back("SCALE", std::to_string(dispatch.bindings.size()));
  if (images > 1) dispatch.defines.emplace_back("SCALE_OF_IMAGES", "1");
  dispatch.bindings.push_back({scale, Access::read});
}

}  // namespace

void add_extras(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants,
                const PointwiseExtras& extras, int64_t images) {
  if (extras.residual != kNoTensor) add_residual(lowering, dispatch, constants, extras.residual);
  if (extras.scale != kNoTensor) add_scale(dispatch, extras.scale, images);
}

ConvTile choose_pointwise_tile(Lowering& lowering, const Shape& x, int64_t outputs) {
  const auto [n, c, h, w] = nchw(x);
  return choose_tile(lowering, "pointwise", pointwise_tiles(lowering, n * h * w, c, outputs));
}

namespace {

TensorId workspace_of_parts(Lowering& lowering, TensorId y, int64_t parts) {
  const auto [n, c, h, w] = nchw(lowering.tensor(y).desc.shape);
  return lowering.workspace(lowering.node().name + "/parts",
                            {{n * parts, c, h, w}, ElementType::f32, Storage::buffer, Layout::channels4});
}

void sum_parts(Lowering& lowering, TensorId parts, TensorId y, const Activation& activation,
               TensorId residual) {
  const Shape& shape = lowering.tensor(y).desc.shape;
  const auto [n, c, h, w] = nchw(shape);
  const Grid grid = grid_3d(lowering.caps(), n * w, h, slices(c));
  Dispatch dispatch;
  dispatch.shader = "sum_parts";
  dispatch.workgroup_size = grid.workgroup_size;
  dispatch.workgroup_count = grid.workgroup_count;
  dispatch.bindings = {{parts, Access::read}, {y, Access::write}};
  define_activation_or_bounds(dispatch, activation);
  PushConstants constants;
  constants.shape(lowering.tensor(parts).desc.shape).shape(shape);
  push_activation_or_bounds(constants, activation);
  if (residual != kNoTensor) add_residual(lowering, dispatch, constants, residual);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void dispatch_pointwise(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                        const ConvTile& tile, const Activation& activation, WeightValues values,
                        const PointwiseExtras& extras) {
  if (tile.cooperative)
    return dispatch_cooperative(lowering, x, y, weights, *tile.cooperative, {}, activation, std::move(values),
                                extras);
  const Shape& shape = lowering.tensor(x).desc.shape;
  const auto [n, c, h, w] = nchw(shape);
  const TensorId grid =
      packed_weights(lowering, weight_grid(lowering, weights.width(), weights.height()), std::move(values));
  int64_t blocks = divide_up(n * h * w, tile.pixels);
  const int64_t lanes = tile.by_subgroups ? lowering.caps().subgroup_size : 1;
  blocks = divide_up(blocks, lanes) * lanes;
  const bool in_parts = tile.parts > 1;
  const TensorId result = in_parts ? workspace_of_parts(lowering, y, tile.parts) : y;
  Dispatch dispatch =
      conv_dispatch(lowering, "conv_pointwise", blocks * weights.blocks() * tile.parts, x, grid, result);
  if (in_parts) dispatch.defines.emplace_back("PARTS", std::to_string(tile.parts));
  if (tile.by_subgroups) dispatch.subgroup_size = lowering.caps().subgroup_size;
  define_tile(dispatch, tile);
  define_halves(dispatch, weights.run);
  const Activation now = in_parts ? Activation() : activation;
  define_activation_or_bounds(dispatch, now);
  PushConstants constants;
  constants.shape(shape).shape(lowering.tensor(result).desc.shape);
  push_activation_or_bounds(constants, now);
  add_extras(lowering, dispatch, constants, {in_parts ? kNoTensor : extras.residual, extras.scale}, n);
  dispatch.push_constants = constants.bytes();
  lowering.dispatch(std::move(dispatch));
  if (in_parts) sum_parts(lowering, result, y, activation, extras.residual);
}

}  // namespace vellum

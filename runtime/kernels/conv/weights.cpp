#include "kernels/conv/weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "cost/device_traits.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "kernels/conv/dot_products.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/value_grids.hpp"
#include "program/divide.hpp"
#include "shaders/conv/pack_weights.h"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Returns the first input slice of the block that begins with output channel `first`, as the shaders compute
// it.
int64_t first_input_slice(const ConvWeights& w, int64_t first) {
  return first / w.group_outputs() * w.group_inputs() / 4;
}

// Returns the largest sum of the magnitudes of the weights in a run. `texels`: begins with the weights of one
// output channel.
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

// Returns input `i` of a node for packing. If computes_weights(lowering, input), returns gather indices in
// place of its elements: first, first + 1, ...
HostTensor constant_or_gather_indices(const Lowering& lowering, size_t input, size_t i, int64_t first) {
  if (!computes_weights(lowering, input)) return *lowering.constant(i);
  HostTensor numbers(DType::f32, lowering.input_type(i).shape);
  // A float represents every integer up to 2^24.
  if (first + numbers.elements() > int64_t{1} << 24)
    throw Error(ErrorCode::unsupported,
                describe(lowering.node()) + ": more than 2^24 weights that are computed at run time");
  for (float& number : numbers.mutable_as<float>()) number = static_cast<float>(first++);
  return numbers;
}

}  // namespace

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

int64_t ConvWeights::columns() const { return own_inputs ? group_inputs() : 4 * window_slices(); }

int64_t ConvWeights::width() const { return bytes ? columns() / bytes->texel_channels() : columns(); }

int64_t ConvWeights::block_scales() const {
  if (!bytes || !bytes->blocks) return 0;
  return blocks() * tile_slices * (bytes->blocks->shared_by_taps ? 1 : taps) * bytes->blocks->count;
}

int64_t ConvWeights::texels_after_weights() const {
  const int64_t rows = blocks() * tile_slices;
  if (!bytes) return run.of_halves() ? 3 * rows : rows;
  const int64_t words = 4;  // for each slice: one word for each channel
  const int64_t zeros = bytes->blocks && !bytes->blocks->zero.empty() ? 1 : 0;
  const int64_t sums = bytes->dot_products != DotProducts::none ? 1 : 0;
  return (bytes->words() + sums) * words * rows + block_scales() * (words + zeros);
}

int64_t ConvWeights::height() const {
  return blocks() * tile_slices * taps + divide_up(texels_after_weights(), width());
}

template <typename Set>
void ConvWeights::for_each_weight(const WeightAt& weight, Set&& set) const {
  const int64_t channels = group_inputs(), row_columns = columns();
  for (int64_t m = 0; m < outputs; ++m) {
    const int64_t first = m / (4 * tile_slices) * 4 * tile_slices;
    const int64_t shift =
        own_inputs ? 0 : m / group_outputs() * channels - 4 * first_input_slice(*this, first);
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c)
        set((m / 4 * taps + tap) * row_columns + shift + c, m, weight(m, c, tap));
  }
}

void ConvWeights::pack_blocks(ByteTexels& texels, const WeightAt& weight) const {
  const WeightBlocks& of = *bytes->blocks;
  const int64_t width_of_row = columns(), rows = blocks() * tile_slices, scales = block_scales();
  const auto zero = [&](int64_t block) {
    return of.zero.empty() ? bytes->zero : int32_t{of.zero[static_cast<size_t>(block)]};
  };
  // Returns the index of a block in the lists of WeightBlocks.
  const auto block_of = [&](int64_t m, int64_t column) {
    const int64_t tap = column / width_of_row % taps;
    const int64_t row = of.shared_by_taps ? m : m * taps + tap;
    return row * of.count + column % width_of_row / (4 * of.slices);
  };
  const int64_t first_scale = width() * rows * taps + 4 * rows, first_zero = first_scale + 4 * scales;
  const int64_t each = (of.shared_by_taps ? 1 : taps) * of.count;  // blocks of an output channel
  for (int64_t i = 0; i < 4 * scales; ++i) texels.set_word(static_cast<size_t>(first_scale + i), 0.0f);
  for (int64_t m = 0; m < outputs; ++m) {
    for (int64_t i = 0; i < each; ++i) {
      const auto block = static_cast<size_t>(m * each + i);
      const int64_t at = m / 4 * each + i;
      texels.set_word(static_cast<size_t>(first_scale + 4 * at + m % 4), of.scale[block]);
      if (!of.zero.empty())
        texels.set_byte(static_cast<size_t>(first_zero + at), static_cast<size_t>(m % 4), of.zero[block]);
    }
    for (int64_t i = 0; i < taps * width_of_row; ++i) {  // the padding after a row, too
      const int64_t column = m / 4 * taps * width_of_row + i;
      texels.set_integer(static_cast<size_t>(column), static_cast<size_t>(m % 4), zero(block_of(m, column)));
    }
  }
  for_each_weight(weight, [&](int64_t column, int64_t m, float value) {
    const int64_t block = block_of(m, column);
    const float integer = std::nearbyint(value / of.scale[static_cast<size_t>(block)]);
    texels.set_integer(static_cast<size_t>(column), static_cast<size_t>(m % 4),
                       static_cast<int32_t>(integer) + zero(block));
  });
}

void ConvWeights::set_sums(ByteTexels& texels, const WeightAt& weight) const {
  const int64_t rows = blocks() * tile_slices, first = rows * (taps * width() + 4 * bytes->words());
  std::vector<int32_t> sums(static_cast<size_t>(4 * rows), 0);
  for_each_weight(weight, [&](int64_t, int64_t m, float value) {
    sums[static_cast<size_t>(m)] += static_cast<int32_t>(std::nearbyint(value / bytes->unit(m)));
  });
  for (size_t m = 0; m < sums.size(); ++m)
    texels.set_word(static_cast<size_t>(first) + m, std::bit_cast<float>(sums[m]));
}

std::vector<std::byte> ConvWeights::pack_bytes(const WeightAt& weight, const std::vector<float>& bias) const {
  ByteTexels texels(static_cast<size_t>(width() * height()), *bytes);
  if (bytes->blocks)
    pack_blocks(texels, weight);
  else
    for_each_weight(weight, [&](int64_t column, int64_t m, float value) {
      texels.set_weight(static_cast<size_t>(column), static_cast<size_t>(m % 4), value, bytes->unit(m));
    });
  const auto rows = static_cast<size_t>(blocks() * tile_slices);
  const size_t first = rows * static_cast<size_t>(taps * width());
  if (bytes->dot_products != DotProducts::none) {
    texels.transpose(first);
    set_sums(texels, weight);
  }
  for (size_t m = 0; m < 4 * rows; ++m) {
    for (size_t word = 0; word < static_cast<size_t>(bytes->words()); ++word)
      texels.set_word(first + 4 * rows * word + m,
                      bytes->word(word, static_cast<int64_t>(m), m < bias.size() ? &bias[m] : nullptr));
  }
  return texels.take();
}

std::vector<float> ConvWeights::pack(const WeightAt& weight, const std::vector<float>& bias) const {
  const int64_t columns = width();
  std::vector<float> texels(static_cast<size_t>(4 * columns * height()));
  const auto texel = [&](int64_t row, int64_t column) {
    return texels.data() + 4 * (row * columns + column);
  };
  for_each_weight(weight, [&](int64_t at, int64_t m, float value) {
    texels[static_cast<size_t>(4 * at + m % 4)] = value;
  });
  const int64_t bias_row = blocks() * tile_slices * taps;
  for (size_t m = 0; m < bias.size(); ++m) texel(bias_row, static_cast<int64_t>(m / 4))[m % 4] = bias[m];
  if (run.of_halves()) scale_runs(*this, texels);
  return texels;
}

// Without groups tile_slices is left out: it only determines the number of empty rows at the end, and the
// extent of the grid has that already.
std::vector<int64_t> ConvWeights::packing_parameters() const {
  std::vector<int64_t> parameters{inputs,     outputs,    groups,  taps, groups > 1 ? tile_slices : 0,
                                  own_inputs, run.slices, run.taps};
  if (bytes) std::ranges::copy(bytes->packing_parameters(), std::back_inserter(parameters));
  return parameters;
}

TensorDesc weight_grid(const Lowering& lowering, int64_t width, int64_t height) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (width > kMost || height > kMost || width * height > kMost)
    throw Error(ErrorCode::unsupported, describe(lowering.node()) + ": its weights take " +
                                            std::to_string(width) + " x " + std::to_string(height) +
                                            " texels, more than any device holds");
  return lowering.texel_grid(static_cast<uint32_t>(width), static_cast<uint32_t>(height));
}

TensorDesc weight_grid(const Lowering& lowering, const ConvWeights& weights) {
  TensorDesc desc = weight_grid(lowering, weights.width(), weights.height());
  // A texel of an image of bytes fills four registers, and would be packed again; buffers are read as words.
  if (multiplies_dots(weights.bytes)) desc.storage = Storage::buffer;
  return weights.bytes ? in_bytes(desc, *weights.bytes) : desc;
}

Binding reads_weights(const Lowering& lowering, TensorId grid, const ConvWeights& weights, bool broadcasts) {
  const bool loads_four = weights.bytes && weights.bytes->bits == 8 && !weights.bytes->blocks &&
                          !weights.own_inputs && weights.inputs >= 4 && !broadcasts &&
                          loads_words4(lowering.caps());
  return loads_four && lowering.tensor(grid).desc.storage == Storage::buffer ? reads_words4("w", grid)
                                                                             : reads("w", grid);
}

namespace {

// Returns whether the kernel can find the range of its results, with one buffer more. The results must be
// floats: a range of what is rounded to halves would be another.
bool can_find_range(const Lowering& lowering, const Dispatch& dispatch) {
  constexpr std::string_view kShaders[] = {"conv", "conv_pointwise", "conv_depthwise"};
  if (std::ranges::find(kShaders, dispatch.shader) == std::end(kShaders)) return false;
  uint32_t buffers = 1;
  for (const Binding& binding : dispatch.bindings) {
    const TensorDesc& desc = lowering.tensor(binding.tensor).desc;
    if (desc.storage == Storage::buffer) ++buffers;
    if (binding.access != Access::read && desc.element != ElementType::f32) return false;
  }
  return buffers <= lowering.caps().max_storage_buffers_per_stage;
}

// Lets the kernel find the range of its results where the next layer is quantised at run time, too.
void add_range(Lowering& lowering, Dispatch& dispatch) {
  if (!can_find_range(lowering, dispatch)) return;
  const auto range = lowering.counters_for_range();
  if (!range) return;
  dispatch.bindings.push_back(reads_and_writes("counters", range->tensor));
  dispatch.appended.push_back({"range_counter", static_cast<int32_t>(range->first)});
  define(dispatch, "RANGE");
  if (is_never_negative(*lowering.node().op)) define(dispatch, "NEVER_NEGATIVE");
  if (device_traits(lowering.caps()).subgroups_to_fill_a_unit == 0) define(dispatch, "DIRECT_ATOMICS");
}

}  // namespace

void add_byte_weights(Lowering& lowering, Dispatch& dispatch, const ByteWeightsPointer& bytes) {
  if (!bytes) return;
  define(dispatch, "BYTE_WEIGHTS");
  if (bytes->bits == 4) define(dispatch, "NIBBLES");
  if (const WeightBlocks* blocks = bytes->blocks.get()) {
    define(dispatch, "WEIGHT_BLOCK", std::to_string(blocks->slices));
    if (blocks->shared_by_taps) define(dispatch, "BLOCKS_OF_SLICES");
    if (!blocks->zero.empty()) define(dispatch, "BLOCK_ZEROS");
  }
  // A float holds the sum of 64 slices: four products of at most 255 * 255 each.
  if (bytes->adds_in_runs()) define(dispatch, "INTEGER_SUMS", "64");
  if (bytes->has_16_bits()) {
    define(dispatch, "X_OF_16_BITS");
    dispatch.appended.push_back({"x_steps", 1.0f / bytes->fixed_point->x_scale});
  } else if (bytes->fixed_point || bytes->x_step != 0.0f) {
    define(dispatch, "X_IN_STEPS");
  }
  if (bytes->fixed_point || bytes->sum_step != 0.0f) define(dispatch, "SUMS_IN_STEPS");
  if (bytes->fixed_point) define(dispatch, "FIXED_POINT");
  define_dot_products(dispatch, *bytes);
  if (bytes->fixed_point && bytes->fixed_point->rounds_once) define(dispatch, "ROUNDS_ONCE");
  if (!bytes->scales_last) return;
  dispatch.bindings.push_back(reads("sum_scale", lowering.read(3, Layout::linear)));
  define(dispatch, "SUM_SCALE");
  if (dynamic_cast<const ScaledConv&>(*lowering.node().op).bias_in_steps) define(dispatch, "BIAS_IN_STEPS");
  add_range(lowering, dispatch);
}

void add_byte_weights(Lowering& lowering, Dispatch& dispatch, const ConvWeights& weights) {
  add_byte_weights(lowering, dispatch, weights.bytes);
  if (weights.bytes && weights.bytes->bits == 4 && weights.width() % 4 != 0) define(dispatch, "NARROW_ROWS");
}

bool computes_weights(const Lowering& lowering, size_t input) {
  for (size_t i = input; i <= input + 1; ++i)
    if (lowering.has_input(i) && !lowering.constant(i)) return true;
  return false;
}

void choose_weight_type(Lowering& lowering, ConvWeights& weights, size_t input) {
  if (const ByteWeightsPointer narrow = narrow_weights(lowering, input))
    weights.bytes = narrow;
  else if (should_multiply_halves(lowering))
    weights.run = kRunOfSlices;
  else
    weights.bytes = byte_weights(lowering, input);
}

HostTensor weights_of(const Lowering& lowering, size_t input) {
  return constant_or_gather_indices(lowering, input, input, 1);
}

std::vector<float> bias_of(const Lowering& lowering, size_t input) {
  if (!lowering.has_input(input + 1)) return {};
  const int64_t weights = element_count(lowering.input_type(input).shape);
  return constant_or_gather_indices(lowering, input, input + 1, weights + 1).to_floats();
}

WeightValues values_of_packing(const Lowering& lowering, Packing packing,
                               std::function<std::vector<float>()> make, size_t input) {
  WeightOrigin origin{std::move(packing), {}};
  for (size_t i = input; i <= input + 1; ++i)
    if (const HostTensor* constant = lowering.has_input(i) ? lowering.constant(i) : nullptr)
      origin.sources.push_back(*constant);
  if (dynamic_cast<const ScaledConv*>(lowering.node().op.get()))
    origin.sources.push_back(*lowering.constant(4));
  WeightValues values(std::move(make), std::move(origin));
  values.numbers = computes_weights(lowering, input);
  return values;
}

WeightValues conv_values(const Lowering& lowering, const ConvWeights& grid, size_t input) {
  const auto pack = [grid, weights = weights_of(lowering, input), bias = bias_of(lowering, input)](auto by) {
    const std::vector<float> w = weights.to_floats();
    return (grid.*by)(
        [&](int64_t m, int64_t c, int64_t tap) {
          return w[static_cast<size_t>((m * grid.group_inputs() + c) * grid.taps + tap)];
        },
        bias);
  };
  Packing packing{PackingScheme::conv, grid.packing_parameters()};
  WeightValues values = values_of_packing(
      lowering, std::move(packing), [pack] { return pack(&ConvWeights::pack); }, input);
  if (grid.bytes) values.make_bytes = [pack] { return pack(&ConvWeights::pack_bytes); };
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
  Dispatch dispatch =
      make_dispatch("pack_weights", grid_1d(lowering.caps(), count / 4),
                    {reads("table", table), reads("w", w), writes("grid", packed)},
                    PackWeightsParameters{.grid_shape = texel_shape(desc.shape),
                                          .w_count = element_count(lowering.input_type(1).shape)});
  if (lowering.has_input(2)) {
    dispatch.bindings.push_back(reads("bias", lowering.read(2, Layout::linear)));
    define(dispatch, "BIAS");
  }
  lowering.dispatch(std::move(dispatch));
  return packed;
}

}  // namespace vellum

// Finds weights of 4 bits, and weights with scales of blocks, among weights that are floats.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/operators/conv/conv_transpose.hpp"
#include "kernels/conv/byte_weights.hpp"
#include "kernels/conv/weights.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

using NarrowWeightAt = std::function<float(int64_t, int64_t, int64_t)>;

constexpr int64_t kWholeRow = 1 << 20;  // slices of a block that no row exceeds
constexpr int32_t kMostOf4Bits = 15, kMostOf8Bits = 255;

// The integers of weights that share a scale.
struct ScaledIntegers {
  float scale = 1.0f;
  int32_t low = 0, high = 0;  // of 0 and the integers
};

std::optional<ScaledIntegers> find_integers(std::span<const float> weights) {
  const std::optional<float> scale = find_scale(weights);
  if (!scale || weights.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(weights);
  return ScaledIntegers{*scale, std::min(0, static_cast<int32_t>(std::nearbyint(least / *scale))),
                        std::max(0, static_cast<int32_t>(std::nearbyint(most / *scale)))};
}

struct NarrowProblem {
  int64_t outputs = 0, inputs = 0, taps = 1;
  const NarrowWeightAt& weight;
};

// Returns the weights of each row and block, one after another, as integers. Returns nothing unless all have
// a range of at most `most`. `block`: input channels; 0: all of an output channel are one block.
std::optional<std::vector<ScaledIntegers>> integers_of_blocks(const NarrowProblem& problem, int64_t block,
                                                              int32_t most) {
  std::vector<ScaledIntegers> found;
  std::vector<float> weights;
  const auto add = [&] {
    const auto integers = find_integers(weights);
    if (!integers || integers->high - integers->low > most) return false;
    found.push_back(*integers);
    weights.clear();
    return true;
  };
  for (int64_t m = 0; m < problem.outputs; ++m) {
    for (int64_t tap = 0; tap < problem.taps; ++tap)
      for (int64_t c = 0; c < problem.inputs; ++c) {
        weights.push_back(problem.weight(m, c, tap));
        if (block > 0 && ((c + 1) % block == 0 || c + 1 == problem.inputs) && !add()) return std::nullopt;
      }
    if (block == 0 && !add()) return std::nullopt;
  }
  return found;
}

ByteWeights with_zero_of(int64_t bits, int32_t low, int32_t high) {
  ByteWeights weights;
  weights.bits = bits;
  const int32_t middle = 1 << (bits - 1);
  weights.zero = low < -middle || high >= middle ? -low : middle;
  return weights;
}

bool fit_4_bits(const std::vector<ScaledIntegers>& all) {
  return std::ranges::all_of(
      all, [](const ScaledIntegers& integers) { return integers.high - integers.low <= kMostOf4Bits; });
}

ByteWeightsPointer as_blocks(const NarrowProblem& problem, const std::vector<ScaledIntegers>& all,
                             int64_t block, int64_t bits) {
  int32_t low = 0, high = 0;
  for (const ScaledIntegers& integers : all)
    low = std::min(low, integers.low), high = std::max(high, integers.high);
  const bool have_one_zero = high - low < 1 << bits;
  ByteWeights weights = have_one_zero ? with_zero_of(bits, low, high) : ByteWeights{.zero = 0, .bits = bits};
  weights.scale.assign(static_cast<size_t>(problem.outputs), 1.0f);
  WeightBlocks blocks;
  blocks.slices = block > 0 ? slices(block) : kWholeRow;
  blocks.count = divide_up(slices(problem.inputs), blocks.slices);
  blocks.shared_by_taps = block == 0;
  for (const ScaledIntegers& integers : all) {
    blocks.scale.push_back(integers.scale);
    if (!have_one_zero)
      blocks.zero.push_back(static_cast<uint8_t>(with_zero_of(bits, integers.low, integers.high).zero));
  }
  weights.blocks = std::make_shared<const WeightBlocks>(std::move(blocks));
  return std::make_shared<const ByteWeights>(std::move(weights));
}

// Returns the weights with one scale for each output channel. Null if bytes with one zero point hold them,
// and 4 bits do not.
ByteWeightsPointer narrow_channels(const NarrowProblem& problem, const std::vector<ScaledIntegers>& all) {
  const auto low = std::ranges::min(all, {}, &ScaledIntegers::low).low;
  const auto high = std::ranges::max(all, {}, &ScaledIntegers::high).high;
  if (high - low <= kMostOf4Bits) {
    ByteWeights weights = with_zero_of(4, low, high);
    for (const ScaledIntegers& integers : all) weights.scale.push_back(integers.scale);
    return std::make_shared<const ByteWeights>(std::move(weights));
  }
  if (fit_4_bits(all)) return as_blocks(problem, all, 0, 4);
  return high - low > kMostOf8Bits ? as_blocks(problem, all, 0, 8) : nullptr;
}

// Returns whether blocks of input channels begin at slices of the grid (ConvWeights): the groups are whole
// slices.
bool have_own_blocks(int64_t groups, int64_t inputs, int64_t outputs) {
  return groups == 1 || (inputs % 4 == 0 && outputs % 4 == 0);
}

}  // namespace

ByteWeightsPointer find_narrow_weights(const NarrowSearch& search, const NarrowWeightAt& weight) {
  const NarrowProblem problem{search.outputs, search.inputs, search.taps, weight};
  const int64_t inputs = search.inputs, taps = search.taps;
  if (search.outputs * inputs * taps == 0) return nullptr;
  const auto channels = integers_of_blocks(problem, 0, search.fits_bytes ? kMostOf4Bits : kMostOf8Bits);
  if (channels) return narrow_channels(problem, *channels);
  if (search.fits_bytes || !search.allows_blocks) return nullptr;
  constexpr int64_t kLeastBlock = 16, kMostBlock = 256;
  // With several taps, rows of all input channels are blocks, too.
  std::vector<int64_t> sizes;
  if (taps > 1) sizes.push_back(inputs);
  for (int64_t size = kMostBlock; size >= kLeastBlock; size /= 2)
    if (size < inputs) sizes.push_back(size);
  for (const int64_t size : sizes) {
    const auto blocks = integers_of_blocks(problem, size, kMostOf8Bits);
    if (!blocks) continue;
    return as_blocks(problem, *blocks, size, fit_4_bits(*blocks) ? 4 : 8);
  }
  return nullptr;
}

ByteWeightsPointer narrow_weights(const Lowering& lowering, size_t input) {
  if (!lowering.has_only_integer_weights() || computes_weights(lowering, input)) return nullptr;
  const HostTensor& weights = *lowering.constant(input);
  const Shape& shape = weights.shape();
  const int64_t taps = element_count(Shape(shape.begin() + 2, shape.end()));
  const std::vector<float> values = weights.to_floats();
  const int64_t groups = lowering.input_type(0).shape[1] / std::max<int64_t>(shape[1], 1);
  const bool allows_blocks = have_own_blocks(groups, shape[1], shape[0] / std::max<int64_t>(groups, 1));
  return find_narrow_weights(
      {.outputs = shape[0], .inputs = shape[1], .taps = taps, .allows_blocks = allows_blocks},
      [&](int64_t m, int64_t c, int64_t tap) {
        return values[static_cast<size_t>((m * shape[1] + c) * taps + tap)];
      });
}

ByteWeightsPointer transposed_narrow_weights(const Lowering& lowering, int64_t taps) {
  if (!lowering.has_only_integer_weights() || computes_weights(lowering)) return nullptr;
  const auto& conv = lowering.op<ConvTranspose>();
  if (conv.adds_integers() && has_integers_of(*conv.fixed_point, lowering)) return nullptr;
  const int64_t group = conv.group;
  const Shape& shape = lowering.input_type(1).shape;
  const int64_t inputs = shape[0] / group, outputs = shape[1];
  const std::vector<float> values = lowering.constant(1)->to_floats();
  return find_narrow_weights(
      {.outputs = outputs * group,
       .inputs = inputs,
       .taps = taps,
       .allows_blocks = have_own_blocks(group, inputs, outputs)},
      [&](int64_t m, int64_t c, int64_t tap) {
        return values[static_cast<size_t>(transposed_weight_index(inputs, outputs, taps, m, c, tap))];
      });
}

}  // namespace vellum

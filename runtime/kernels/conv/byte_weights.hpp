// Weights that are stored in bytes on the device: those of quantised models, which are integers times a scale
// for each output channel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/operators/conv/fixed_point.hpp"
#include "graph/tensor.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

struct ByteWeights {
  std::vector<float> scale;  // by output channel
  int32_t zero = 128;        // of the bytes
  // True, of a ScaledConv: the weights are the integers, and the bias is not divided by the scale. Results
  // are multiplied by the scale and by that of the node's input 3, then the bias is added.
  bool scales_last = false;
  // With scales_last: sums may have more bits than an fp32 number, so that parts of them are added up as
  // integers.
  bool exceeds_floats = false;

  // Not null: results are integers of fixed point. Of these there are no scales on the device, but biases,
  // multipliers and shifts.
  std::shared_ptr<const FixedPoint> fixed_point = nullptr;

  // Returns the words after the weights for each output channel.
  int64_t words() const { return fixed_point ? 3 : 2; }
  // Returns word `word` of a channel; of those that are beyond the last, 0. `bias`: null if there is none.
  float word(size_t word, int64_t channel, const float* bias) const;
  // Returns the numbers that determine the bytes, besides the weights, for Packing.
  std::vector<int64_t> packing_parameters() const;
  // Returns what a weight is a multiple of, and a bias, where sums begin with it.
  float unit(int64_t channel) const { return scales_last ? 1.0f : scale[static_cast<size_t>(channel)]; }
};
// Null: the weights are floats.
using ByteWeightsPointer = std::shared_ptr<const ByteWeights>;

// Returns the scales by which the weights of each output channel are integers that fit in bytes: integer *
// scale is each weight within the rounding of floats. Null if there are none. weight(channel, i): one of
// `each`.
ByteWeightsPointer find_byte_weights(int64_t channels, int64_t each,
                                     const std::function<float(int64_t, int64_t)>& weight);
// Returns the weights of input `input` of the node in bytes, where the node's input 0 is stored in bytes and
// the weights and the bias are constants; always where the node is a ScaledConv. `adds_integers`: whether the
// kernel can add up sums beyond floats; otherwise such sums are not computed in fixed point.
ByteWeightsPointer byte_weights(const Lowering& lowering, size_t input = 1, bool adds_integers = true);
// Returns the weights of a ConvTranspose in fixed point; null for others.
ByteWeightsPointer transposed_byte_weights(const Lowering& lowering);
// Returns the least and the most of the integers that the weights are, and zero; nothing if they do not fit
// in bytes. weight: each is an integer.
std::optional<std::pair<int32_t, int32_t>> byte_range(std::span<const float> weights);

// Returns the desc of the same texels in bytes.
TensorDesc in_bytes(TensorDesc desc, const ByteWeights& weights);
// Writes integers as bytes of a texel grid, and floats as words, four bytes each.
class ByteTexels {
 public:
  ByteTexels(size_t texels, const ByteWeights& weights);
  void set_weight(size_t texel, size_t channel, float weight, float scale);
  void set_word(size_t texel, float word);
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  int32_t zero_;
};

}  // namespace vellum

// 8-bit weights of quantised models on the device: integers times a scale for each output channel.
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

// Scales of blocks of input channels. A row of weights is those of an output channel and a tap.
struct WeightBlocks {
  int64_t slices = 1;           // input slices of a block
  int64_t count = 1;            // blocks of a row
  bool shared_by_taps = false;  // all rows of an output channel have the same scales
  std::vector<float> scale;     // for each row and block
  std::vector<uint8_t> zero;    // zero points likewise; empty: all are ByteWeights::zero
};

// How a kernel multiplies bytes of weights with bytes of its input: one by one as floats, or four by four as
// integers, of which those of the weights are signed, and those of the input signed or unsigned.
enum class DotProducts : uint8_t { none, signed_bytes, mixed_bytes };

struct ByteWeights {
  std::vector<float> scale;  // for each output channel; 1 if blocks have scales
  int32_t zero = 128;        // zero point: the integer n is the byte n + zero
  // True for a ScaledConv: the node's weights are the integers themselves, and the bias is not divided by the
  // scale. The kernel multiplies each sum by the channel's scale and by the scale in the node's input 3, and
  // then adds the bias.
  bool scales_last = false;
  // A sum may need more than the 24 bits that fp32 holds exactly, so that kernels accumulate in integers.
  bool exceeds_floats = false;
  bool exceeds_int32 = false;  // with integers of 16 bits, a sum may need more than 32 bits
  // Not null: the kernel computes in fixed point. The device then has the bias, multiplier and shift of each
  // channel in place of bias and scale.
  std::shared_ptr<const FixedPoint> fixed_point = nullptr;
  // Not 0: the kernel multiplies by the integers of its input, whose step this is, so that sums are exact up
  // to 24 bits. Scale and bias are in units of the product of both steps.
  float x_step = 0.0f;
  // Not 0, with x_step: the scaled sums are numbers of steps of this size, to which they are rounded next.
  float sum_step = 0.0f;
  // Not none: the kernel multiplies four bytes of its input at a time (dot_products.hpp). Requires an x_step,
  // fixed_point or scales_last.
  DotProducts dot_products = DotProducts::none;
  int64_t bits = 8;  // of an integer: 8, or 4, which only some kernels read (narrow_weights())
  // Not null: blocks of input channels have scales, and the bias is not divided by a scale.
  std::shared_ptr<const WeightBlocks> blocks = nullptr;

  // Returns the number of input channels whose weights a texel of four bytes holds.
  int64_t texel_channels() const { return 8 / bits; }
  // Returns whether kernels add up partial sums: of floats in integers, or of integers in integers of 64
  // bits.
  bool adds_in_runs() const {
    return dot_products == DotProducts::none && (has_16_bits() ? exceeds_int32 : exceeds_floats);
  }
  // Returns whether the integers of x have 16 bits.
  bool has_16_bits() const { return fixed_point && fixed_point->has_16_bits; }
  // Returns the number of 32-bit words that each output channel has after its weights.
  int64_t words() const { return fixed_point ? has_16_bits() ? 4 : 3 : blocks ? 1 : 2; }
  // Returns word `word` of a channel: 0 the bias, 1 the scale or multiplier, 2 the shift, 3 the upper half of
  // the bias. Returns 0 for a channel beyond the last. `bias`: null if there is none.
  float word(size_t word, int64_t channel, const float* bias) const;
  // Return the scale and the bias of output channel m with an x_step.
  float scale_of_sum(size_t m) const;
  float bias_of_sum(size_t m, float bias) const;
  // Returns the numbers that determine the bytes in addition to the weights, for Packing.
  std::vector<int64_t> packing_parameters() const;
  // Returns the step of a channel's weights. The stored bias is in units of it, too, except in fixed point.
  float unit(int64_t channel) const { return scales_last ? 1.0f : scale[static_cast<size_t>(channel)]; }
};
// Null: the weights are floats.
using ByteWeightsPointer = std::shared_ptr<const ByteWeights>;

// Finds the scale of weights that are integers of at most 255 times the scale, within the rounding of fp32.
// The smallest weight that is not zero is a small integer times the scale.
std::optional<float> find_scale(std::span<const float> weights);

// Returns whether input i of the node is stored in bytes with this step.
bool has_step(const Lowering& lowering, size_t i, float step);
// Returns whether input 0 has the integers that a layer in fixed point multiplies: bytes, or floats for
// integers of 16 bits, unless their bounds let bytes hold them.
bool has_integers_of(const FixedPoint& fixed, const Lowering& lowering);

// Finds a scale for each output channel such that every weight is an integer times the scale, within the
// rounding of fp32, and the integers fit in bytes. Returns null if there are no such scales. weight(channel,
// i): weight i of a channel, for 0 <= i < each.
ByteWeightsPointer find_byte_weights(int64_t channels, int64_t each,
                                     const std::function<float(int64_t, int64_t)>& weight);
// Returns the node's input `input` as 8-bit weights. Returns null if the weights are no integers that fit in
// bytes, times scales. Also returns null for a node other than a ScaledConv unless
// Lowering::may_have_byte_weights(), or if the weights or the bias are computed at run time. `adds_integers`:
// whether the kernel can accumulate in integers; if not, a convolution whose sums exceed fp32 is not computed
// in fixed point.
ByteWeightsPointer byte_weights(const Lowering& lowering, size_t input = 1, bool adds_integers = true);

// Returns the weights for a kernel that can multiply by the integers of input 0: with an x_step if that input
// is in bytes and has no scale, and with a sum_step if `activation` rounds the sums first. Returns other
// weights as they are.
ByteWeightsPointer in_steps(const Lowering& lowering, const ByteWeightsPointer& bytes,
                            const Activation& activation);

// Returns the weights of a ConvTranspose with a window of `taps` as 8-bit weights, as byte_weights() does.
ByteWeightsPointer transposed_byte_weights(const Lowering& lowering, int64_t taps);
// Returns the weights of a ConvTranspose as narrow_weights() does.
ByteWeightsPointer transposed_narrow_weights(const Lowering& lowering, int64_t taps);
// Returns the index of a weight of a ConvTranspose, whose shape is (C, M / group, kernel...). `m`: the output
// channel, `c`: the input channel within its group.
int64_t transposed_weight_index(int64_t group_inputs, int64_t group_outputs, int64_t taps, int64_t m,
                                int64_t c, int64_t tap);

// Returns the smallest and the largest of 0 and the weights, as integers. Returns nothing if a weight is not
// an integer, or if the range does not fit in bytes.
std::optional<std::pair<int32_t, int32_t>> byte_range(std::span<const float> weights);

// The size of the weights that find_narrow_weights() reads, and which forms of integers it tries.
struct NarrowSearch {
  int64_t outputs = 0, inputs = 0, taps = 1;  // of weight(output channel, input channel, tap)
  bool allows_blocks = true;
  bool fits_bytes = false;  // find_byte_weights() found them, so that only 4 bits would be fewer
};

// Returns weights of floats that need fewer bits than byte_weights(): 4 bits and a scale for each output
// channel; or that it does not find: 4 or 8 bits with scales and zero points of channels, or, if
// `allows_blocks`, of blocks of 16 to 256 input channels. Null for other weights.
ByteWeightsPointer find_narrow_weights(const NarrowSearch& search,
                                       const std::function<float(int64_t, int64_t, int64_t)>& weight);
// Returns the node's input `input`, the weights of a convolution, as narrow weights. Null unless the file has
// integer weights and the layer's input has floats.
ByteWeightsPointer narrow_weights(const Lowering& lowering, size_t input = 1);

// Returns `desc` with 8-bit elements (q8).
TensorDesc in_bytes(TensorDesc desc, const ByteWeights& weights);

// The bytes of a texel grid while it is packed. A weight is a byte or half a byte of a texel; a word is a
// whole texel of four bytes.
class ByteTexels {
 public:
  ByteTexels(size_t texels, const ByteWeights& weights);
  void set_weight(size_t texel, size_t channel, float weight, float scale);
  // Sets an integer with its zero point, by the index of the texel that would hold it with 8 bits.
  void set_integer(size_t column, size_t channel, int32_t integer);
  void set_word(size_t texel, float word);
  void set_byte(size_t texel, size_t channel, uint8_t byte);
  // Makes four output channels of an input channel in each of the first `texels` texels four input channels
  // of an output channel, as signed bytes: transposes each four texels, and subtracts 128.
  void transpose(size_t texels);
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  int32_t zero_;
  size_t bits_;
};

}  // namespace vellum

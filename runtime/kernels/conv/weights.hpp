// The layout of the weights of convolutions and matrix products on the device (shaders/conv/conv_tile.glsl).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/conv/byte_weights.hpp"
#include "kernels/conv/product_run.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// A grid of texels of four output channels each:
//
//                          input channel -->
//   output slice 0, tap 0  | t t t t t t t |
//   output slice 0, tap 1  | t t t t t t t |     row = output slice * taps + tap
//   ...
//   bias                   | b b ...       |     one texel for each output slice
//   scales                 | s s ...       |     with fp16 partial sums: two texels for each output slice
//
// With 8-bit weights a texel of weights is a 32-bit word. After the weights come the biases of all output
// channels, one word each, and then the scales. A bias is divided by its scale (byte_weights.hpp has the
// exceptions). Weights of 4 bits have two input channels in a word. Where blocks have scales, there are, for
// each row of the grid, four words of scales for each block; then, if zero points differ, a word of four zero
// points for each block.
//
// For dot products a word holds the weights of four input channels for one output channel, as signed bytes:
// the words of an input slice are those of the four output channels. After the other words come the sums of
// the weights of all output channels.
//
// In a grouped convolution each block of `tile_slices` output slices has columns of its own: they begin at
// the slice that holds the first input channel of the block's first group, and span as many slices as the
// widest block needs. Input channels of other groups have weight 0.
struct ConvWeights {
  int64_t inputs = 0, outputs = 0;  // channels, all groups together
  int64_t groups = 1;
  int64_t taps = 1;
  int64_t tile_slices = 1;  // output slices of a block
  ProductRun run = {};
  bool own_inputs = false;        // columns are the input channels of the output channel's own group
  ByteWeightsPointer bytes = {};  // not null: 8-bit weights

  int64_t group_inputs() const { return inputs / groups; }
  int64_t group_outputs() const { return outputs / groups; }
  // Returns whether kernels have an outer loop over runs of input slices, after each of which they add the
  // run's partial sums to the accumulators.
  bool adds_in_runs() const { return run.of_halves() || (bytes && (bytes->adds_in_runs() || bytes->blocks)); }
  int64_t blocks() const;
  int64_t window_slices() const;
  int64_t columns() const;  // of weights, of which a texel holds several if they have 4 bits
  int64_t width() const;
  int64_t height() const;

  // weight(output channel, input channel within its group, tap)
  using WeightAt = std::function<float(int64_t, int64_t, int64_t)>;
  // Returns the texels of the grid by rows. `bias` may be empty.
  std::vector<float> pack(const WeightAt& weight, const std::vector<float>& bias) const;
  // Returns the texels of the grid by rows for 8-bit weights.
  std::vector<std::byte> pack_bytes(const WeightAt& weight, const std::vector<float>& bias) const;
  // Returns the parameters that determine the texels and their positions.
  std::vector<int64_t> packing_parameters() const;

 private:
  // Calls set(texel, output channel, weight) for each weight. `texel`: its index in a grid of columns()
  // texels.
  template <typename Set>
  void for_each_weight(const WeightAt& weight, Set&& set) const;
  int64_t texels_after_weights() const;
  int64_t block_scales() const;  // texels of scales of blocks, with those of padding
  void pack_blocks(ByteTexels& texels, const WeightAt& weight) const;
  void set_sums(ByteTexels& texels, const WeightAt& weight) const;  // for dot products
};

// Return the desc of a weight grid of width x height texels. Throw Error(unsupported) if it is larger than
// any device can hold.
TensorDesc weight_grid(const Lowering& lowering, int64_t width, int64_t height);
TensorDesc weight_grid(const Lowering& lowering, const ConvWeights& weights);
// Makes the binding of the grid to a kernel that multiplies by add_products() of conv_tile.glsl. A kernel
// that broadcasts weights, has own_inputs or fewer than four inputs loads texels one by one.
Binding reads_weights(const Lowering& lowering, TensorId grid, const ConvWeights& weights, bool broadcasts);
// Defines the macros for 8-bit weights, and binds the scale of a ScaledConv. Does nothing if `bytes` is null.
void add_byte_weights(Lowering& lowering, Dispatch& dispatch, const ByteWeightsPointer& bytes);
// Also defines NARROW_ROWS for rows of the grid that are not whole groups of four texels.
void add_byte_weights(Lowering& lowering, Dispatch& dispatch, const ConvWeights& weights);

// In the next functions the weights are the node's input `input`, and the bias is the next input.
//
// Returns whether the weights or the bias are computed at run time.
bool computes_weights(const Lowering& lowering, size_t input = 1);
// Chooses the type of a Conv's weights: integers of few bits, runs of halves, or bytes, if the node allows
// one of them, in this order. Call it before reading inputs.
void choose_weight_type(Lowering& lowering, ConvWeights& weights, size_t input = 1);
// Return the weights and the bias for packing; an empty vector if there is no bias. If computes_weights(),
// they return gather indices in place of values: 1, 2, ... for the elements of the weights, and then on for
// the elements of the bias.
HostTensor weights_of(const Lowering& lowering, size_t input = 1);
std::vector<float> bias_of(const Lowering& lowering, size_t input = 1);
// Returns weight values that `make` packs from weights and bias. `packing` identifies the result.
WeightValues values_of_packing(const Lowering& lowering, Packing packing,
                               std::function<std::vector<float>()> make, size_t input = 1);

// Returns the weights of a Conv, of shape (M, C / group, kernel...), as the texels of `grid`.
WeightValues conv_values(const Lowering& lowering, const ConvWeights& grid, size_t input = 1);

// Returns a weight of `desc` with these values. If the values are gather indices (0: no element), a dispatch
// gathers the elements of inputs 1 and 2 at run time, and the result is a workspace.
TensorId packed_weights(Lowering& lowering, const TensorDesc& desc, WeightValues values);

}  // namespace vellum

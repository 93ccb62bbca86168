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
// In bytes a texel of weights is a word, and the bias and the scale of each output channel are a word each:
// the four of an output slice follow one another, those of all biases first. A bias is divided by its scale.
//
// In a grouped convolution the columns of a block of `tile_slices` output slices begin at the slice of its
// first group's first input channel. They span as many slices as any block needs; channels of other groups
// have weight 0.
struct ConvWeights {
  int64_t inputs = 0, outputs = 0;  // channels, all groups together
  int64_t groups = 1;
  int64_t taps = 1;
  int64_t tile_slices = 1;
  ProductRun run = {};
  bool own_inputs = false;
  ByteWeightsPointer bytes = {};  // not null: the texels are bytes

  int64_t group_inputs() const { return inputs / groups; }
  int64_t group_outputs() const { return outputs / groups; }
  // Whether loops over input slices are loops over runs of them.
  bool adds_in_runs() const { return run.of_halves() || (bytes && bytes->exceeds_floats); }
  int64_t blocks() const;
  int64_t window_slices() const;
  int64_t width() const { return own_inputs ? group_inputs() : 4 * window_slices(); }
  int64_t height() const;

  // weight(output channel, input channel within its group, tap)
  using WeightAt = std::function<float(int64_t, int64_t, int64_t)>;
  // Returns the texels of the grid by rows. `bias` may be empty.
  std::vector<float> pack(const WeightAt& weight, const std::vector<float>& bias) const;
  // Does the same in bytes.
  std::vector<std::byte> pack_bytes(const WeightAt& weight, const std::vector<float>& bias) const;
  // Returns the parameters that determine the texels and their positions.
  std::vector<int64_t> packing_parameters() const;

 private:
  // Calls set(texel, output channel, weight) for each weight.
  template <typename Set>
  void for_each_weight(const WeightAt& weight, Set&& set) const;
};

// Return the desc of a weight grid. Throw Error(unsupported) if it is beyond any device.
TensorDesc weight_grid(const Lowering& lowering, int64_t width, int64_t height);
TensorDesc weight_grid(const Lowering& lowering, const ConvWeights& weights);
// Defines the macros of kernels whose weights are bytes, where they are, and adds the scale of a ScaledConv.
void add_byte_weights(Lowering& lowering, Dispatch& dispatch, const ByteWeightsPointer& bytes);

// The weights and the bias are inputs `input` and `input` + 1.

// Whether either is computed at run time.
bool computes_weights(const Lowering& lowering, size_t input = 1);
// Both (no bias: empty) to pack; where computes_weights(), their elements are numbers: 1 and on for those of
// the weights, then those of the bias.
HostTensor weights_of(const Lowering& lowering, size_t input = 1);
std::vector<float> bias_of(const Lowering& lowering, size_t input = 1);
// The values that `make` packs from these two.
WeightValues values_of_packing(const Lowering& lowering, Packing packing,
                               std::function<std::vector<float>()> make, size_t input = 1);
// Those of a Conv, (M, C / group, kernel...), as the texels of `grid`.
WeightValues conv_values(const Lowering& lowering, const ConvWeights& grid, size_t input = 1);
// The weight of `desc` that `values` packs. Where they are numbers (0 for none), a dispatch packs what they
// stand for: of inputs 1 and 2.
TensorId packed_weights(Lowering& lowering, const TensorDesc& desc, WeightValues values);

}  // namespace vellum

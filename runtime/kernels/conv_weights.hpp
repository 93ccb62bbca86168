// How the weights of convolutions and matrix products lie on the device (shaders/conv_tile.glsl), and how
// much of the output one invocation computes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "caps/device_caps.hpp"
#include "kernels/cooperative_tile.hpp"
#include "kernels/divide.hpp"
#include "kernels/lowering.hpp"
#include "kernels/product_run.hpp"

namespace vellum {

// One invocation computes `pixels` x `slices` texels.
struct ConvTile {
  int64_t pixels = 1, slices = 1;
  // The invocations of a subgroup have the same slices, and hand their weights round: conv_pointwise.comp.
  bool by_subgroups = false;
  // Invocations that share each sum over the input channels: sum_parts.comp adds up what they find.
  int64_t parts = 1;
  // A tile of cooperative matrices in its place: conv_cooperative.hpp.
  std::optional<CooperativeTile> cooperative = std::nullopt;

  // Each invocation loads and multiplies for itself.
  bool is_plain() const { return !by_subgroups && !cooperative; }
};

// `lines` lines of `length` pixels are cut into tiles, for `output_slices` slices each; `macs`
// multiply-accumulates in all.
ConvTile choose_conv_tile(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                          int64_t macs);

// It and the others that might be quicker, it first. None is wider than the tensors want.
std::vector<ConvTile> conv_tiles(const DeviceCaps& caps, int64_t length, int64_t lines, int64_t output_slices,
                                 int64_t macs);
// For dispatch_pointwise(): the same, one in parts where the outputs are too few for a GPU, those of them
// that a subgroup can share where the device's subgroups do, and of cooperative matrices.
std::vector<ConvTile> pointwise_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                      int64_t outputs);
// Those of cooperative matrices for convolutions without groups (`inputs` channels) in this precision.
std::vector<ConvTile> cooperative_conv_tiles(const Lowering& lowering, int64_t pixels, int64_t inputs,
                                             int64_t outputs);
// What Lowering::choose() is to know a kernel with that tile as: "direct 8x2".
std::string with_tile(std::string_view kernel, const ConvTile& tile);
// The tile of `tiles` that Lowering::choose() takes for the kernel, which has no rival.
ConvTile choose_tile(Lowering& lowering, std::string_view kernel, const std::vector<ConvTile>& tiles);

// A grid of texels: row = output slice * taps + tap, column = input channel, four output channels a texel;
// then one texel of bias per output slice, and, where runs are of halves, two of what they are multiplied
// with.
//
// In a grouped convolution the columns of a block of `tile_slices` output slices begin at the slice in which
// its first group's input channels begin. They span as many slices as any block needs; channels of other
// groups weigh nothing.
struct ConvWeights {
  int64_t inputs = 0, outputs = 0;  // channels, all groups together
  int64_t groups = 1;
  int64_t taps = 1;
  int64_t tile_slices = 1;
  ProductRun run = {};

  int64_t group_inputs() const { return inputs / groups; }
  int64_t group_outputs() const { return outputs / groups; }
  int64_t blocks() const;
  int64_t window_slices() const;
  int64_t width() const { return 4 * window_slices(); }
  int64_t height() const;

  // weight(output channel, input channel within its group, tap)
  using WeightAt = std::function<float(int64_t, int64_t, int64_t)>;
  // Texels of the grid, row by row. `bias` may be empty.
  std::vector<float> pack(const WeightAt& weight, const std::vector<float>& bias) const;
  // What the texels and their places follow from, for WeightOrigin::packing.
  std::string to_text() const;
};

// The extent of a weight grid as texel_grid() takes it; throws Error(unsupported) where it is beyond any
// device.
TensorDesc weight_grid(const Lowering& lowering, int64_t width, int64_t height);

// Whether weights or bias, inputs 1 and 2, are computed at run time.
bool computes_weights(const Lowering& lowering);
// Input `i` of a node to pack: itself, or where computes_weights(), the numbers of its elements, `first` and
// on.
HostTensor constant_or_numbers(const Lowering& lowering, size_t i, int64_t first);
// Weights and bias (empty where there is none) of a convolution, or constant_or_numbers() of them.
HostTensor weights_of(const Lowering& lowering);
std::vector<float> bias_of(const Lowering& lowering);
// What `make` packs from these two; `name` tells how.
WeightValues packing(const Lowering& lowering, std::string name, std::function<std::vector<float>()> make);
// The weight of `desc` that `values` packs. Where they are numbers (1 and on for the elements of input 1,
// then those of input 2, 0 for none), a dispatch packs what they stand for.
TensorId packed_weights(Lowering& lowering, const TensorDesc& desc, WeightValues values);

// A dispatch of `invocations` in a row, of the shader's bindings x, w, y.
Dispatch conv_dispatch(const Lowering& lowering, std::string shader, int64_t invocations, TensorId x,
                       TensorId w, TensorId y);

// Adds the macros TILE_P and TILE_S.
void define_tile(Dispatch& dispatch, const ConvTile& tile);

// Adds the tensor whose texel is added to the sum of each output texel: RESIDUAL and its binding, the next
// one.
void add_residual(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants, TensorId residual);

// y = activation(x * weights + bias + residual), all in channels4, for each pixel of x:
// shaders/conv_pointwise.comp. The residual may be absent, or have fewer channels than y. `values` gives the
// texels of `weights`. `scale`, if any, holds a factor for each channel of x.
struct PointwiseExtras {
  TensorId residual = kNoTensor, scale = kNoTensor;
};
// Their bindings and macros, and the residual's push constants; `images` of x.
void add_extras(const Lowering& lowering, Dispatch& dispatch, PushConstants& constants,
                const PointwiseExtras& extras, int64_t images);
void dispatch_pointwise(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                        const ConvTile& tile, const Activation& activation, WeightValues values,
                        const PointwiseExtras& extras = {});
// For dispatch_pointwise(); `x` is N, C, ... as nchw() sees it.
ConvTile choose_pointwise_tile(Lowering& lowering, const Shape& x, int64_t outputs);

}  // namespace vellum

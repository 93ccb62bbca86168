#include "kernels/conv/dispatch.hpp"

#include "cost/device_traits.hpp"
#include "cost/subgroups.hpp"
#include "graph/operators/conv/scaled_conv.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/step_rounding.hpp"
#include "shaders/conv/conv_window.h"

namespace vellum {

void add_residual(Dispatch& dispatch, TensorId residual) {
  dispatch.bindings.push_back(reads_in_place("residual", residual));
  define(dispatch, "RESIDUAL");
}

void cover_blocks(Dispatch& dispatch, const DeviceCaps& caps, Storage weights, const InvocationTile& tile,
                  const BlockCounts& blocks, int64_t tiles) {
  const auto set = [&](const Grid& grid) {
    dispatch.workgroup_size = grid.workgroup_size;
    dispatch.workgroup_count = grid.workgroup_count;
  };
  if (tile.broadcasts()) {
    dispatch.subgroup_size = caps.subgroup_size;
    return set(grid_1d(caps, tiles));
  }
  const int64_t parts = tile.split_k();
  if (blocks.pixels > 0 && weights == Storage::buffer && loads_uniform_weights_cheaply(caps, parts))
    if (std::optional<Grid> rows = grid_of_rows(caps, blocks.pixels, blocks.slices, blocks.images)) {
      rows->workgroup_size[1] = static_cast<uint32_t>(parts);
      if (parts > 1) dispatch.subgroup_size = caps.subgroup_size;
      define(dispatch, "UNIFORM_SLICES");
      return set(*rows);
    }
  const int64_t columns = kRowWorkgroup / parts;
  Grid grid = workgroups_in_a_row(caps, divide_up(tiles, columns));
  grid.workgroup_size = {static_cast<uint32_t>(columns), static_cast<uint32_t>(parts), 1};
  set(grid);
}

ivec4 residual_shape(const Lowering& lowering, TensorId residual) {
  if (residual == kNoTensor) return {0, 0, 0, 0};
  return texel_shape(lowering.tensor(residual).desc.shape);
}

void add_extras(Dispatch& dispatch, const ConvExtras& extras, int64_t images) {
  if (extras.residual != kNoTensor) add_residual(dispatch, extras.residual);
  if (extras.scale == kNoTensor) return;
  define(dispatch, "SCALE");
  if (images > 1) define(dispatch, "SCALE_OF_IMAGES");
  dispatch.bindings.push_back(reads("scale", extras.scale));
  if (!extras.scaling.is_rounded()) return;
  define(dispatch, "SCALE_ROUNDED");
  define_steps(dispatch, {result_steps(extras.scaling)});
  dispatch.appended.insert(dispatch.appended.end(), {{"scale_step", extras.scaling.step},
                                                     {"scale_least", extras.scaling.least},
                                                     {"scale_most", extras.scaling.most}});
}

bool loads_four_pixels(const Lowering& lowering, TensorId x, const OutputTile& tile, int64_t pixels) {
  const TensorDesc& desc = lowering.tensor(x).desc;
  return desc.element == ElementType::q8 && desc.storage == Storage::buffer && tile.pixels % 4 == 0 &&
         pixels % 4 == 0 && loads_words4(lowering.caps());
}

TensorId read_residual(Lowering& lowering) {
  const bool scales_sums = dynamic_cast<const ScaledConv*>(lowering.node().op.get()) != nullptr;
  return !scales_sums && lowering.has_input(3) ? lowering.read(3, Layout::channels4) : kNoTensor;
}

ConvWeights conv_weights(const Lowering& lowering, int64_t groups, int64_t taps, int64_t tile_slices) {
  ConvWeights weights{lowering.input_type(0).shape[1], lowering.output_type().shape[1], groups, taps, 1};
  const int64_t narrowest = weights.window_slices();
  for (weights.tile_slices = tile_slices; weights.window_slices() > narrowest;) weights.tile_slices /= 2;
  return weights;
}

namespace {

// Returns the input as linear planes if it was not converted to channels4 yet. Strips always convert, so that
// they round as the whole layer does.
TensorId read_slices_or_planes(Lowering& lowering, const ConvKernel& kernel) {
  const bool may_be_planes = kernel.reads_planes && lowering.preferred_layout(0) == Layout::linear &&
                             !lowering.options().whole_layers && device_traits(lowering.caps()).reads_planes;
  if (!may_be_planes) return lowering.read(0, Layout::channels4);
  const TensorId x = lowering.read(0, Layout::linear);
  return lowering.tensor(x).desc.element == ElementType::f32 ? x : lowering.read(0, Layout::channels4);
}

// Returns the loop iterations of an invocation. conv_transpose.comp also searches for the first tap along
// each axis, and computes the greatest common divisor of stride and dilation.
uint64_t iterations_of(const TensorDesc& x, const ConvWeights& weights, const Window2d& window) {
  constexpr uint64_t kDivisors = 2 * 48;  // Euclid's steps for numbers of 32 bits
  const uint64_t of_slices = slice_iterations(x, weights.window_slices(), weights.adds_in_runs());
  return window_iterations(window.kernel[0], window.kernel[1], of_slices) +
         loop_iterations(window.kernel[0]) + loop_iterations(window.kernel[1]) + kDivisors;
}

}  // namespace

void dispatch_conv(Lowering& lowering, const ConvKernel& kernel, const Window2d& window,
                   const Activation& activation, WeightValues values) {
  const ConvWeights& weights = kernel.weights;
  const TensorId x = read_slices_or_planes(lowering, kernel);
  const TensorId grid = packed_weights(lowering, weight_grid(lowering, weights), std::move(values));
  const TensorId y = lowering.write(0, Layout::channels4),
                 residual = kernel.adds_residual ? read_residual(lowering) : kNoTensor;
  const Shape& y_shape = lowering.tensor(y).desc.shape;
  Dispatch dispatch = make_dispatch(
      kernel.shader, {},
      {reads("x", x), reads_weights(lowering, grid, weights, kernel.tile.broadcasts()), writes("y", y)},
      ConvWindowParameters{.x_shape = texel_shape(lowering.input_type(0).shape),
                           .y_shape = texel_shape(y_shape),
                           .activation_params = activation_params_or_bounds(activation),
                           .residual_shape = residual_shape(lowering, residual),
                           .kernel_size = window_pair(window.kernel),
                           .stride = window_pair(window.stride),
                           .dilation = window_pair(window.dilation),
                           .padding = window_pair(window.padding),
                           .group_inputs = weights.group_inputs(),
                           .group_outputs = weights.group_outputs(),
                           .window_slices = weights.window_slices()});
  dispatch.defines = kernel.defines;
  dispatch.macs = lowering.macs();
  dispatch.iterations = iterations_of(lowering.tensor(x).desc, weights, window);
  define_tile(dispatch, kernel.tile);
  cover_blocks(dispatch, lowering.caps(), lowering.tensor(grid).desc.storage, kernel.tile,
               {kernel.image_blocks, weights.blocks(), y_shape[0]}, kernel.tiles);
  define_halves(dispatch, weights.run);
  add_byte_weights(lowering, dispatch, weights);
  define_results(lowering, dispatch, activation);
  add_extras(dispatch, {.residual = residual}, 1);
  if (kernel.fused) dispatch.fused = kernel.fused;
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

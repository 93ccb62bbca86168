#include "kernels/conv/pointwise.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "cost/device_traits.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "kernels/conv/byte_matrices.hpp"
#include "kernels/conv/dot_products.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/conv/split_k.hpp"
#include "kernels/conv/subgroup_broadcast.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "shaders/conv/conv_pointwise.h"

namespace vellum {
namespace {

// Returns whether a dispatch can also bind the scale. Devices guarantee four storage buffers for a dispatch.
// Images that are only read may be bound as sampled images, of which devices allow more.
bool has_room_for_scale(const Lowering& lowering, TensorId x, const ConvExtras& extras) {
  const uint32_t tensors = extras.residual == kNoTensor ? 4 : 5;
  return lowering.tensor(x).desc.storage != Storage::buffer ||
         tensors <= lowering.caps().max_storage_buffers_per_stage;
}

TensorId scaled(Lowering& lowering, TensorId x, const ConvExtras& extras) {
  const TensorDesc desc = lowering.tensor(x).desc;
  const TensorId result = lowering.workspace(lowering.node().name + "/scaled", desc);
  combine(lowering, "Mul", extras.scaling, Layout::channels4, {x, desc.shape},
          {extras.scale, lowering.tensor(extras.scale).desc.shape}, {result, desc.shape});
  return result;
}

// Returns whether a tile can compute a ScaledConv. Sums that exceed fp32 are accumulated in integers by one
// invocation, or by matrices.
bool can_scale_sums(const PointwiseTile& tile, bool exceeds_floats) {
  if (multiplies_bytes(tile)) return true;
  const auto* invocation = std::get_if<InvocationTile>(&tile);
  return invocation && (!exceeds_floats || (!invocation->broadcasts() && invocation->split_k() == 1));
}

void emit_pointwise(Lowering& lowering, const ConvProblem& problem, const PointwiseTile& tile) {
  ConvWeights weights = conv_weights(lowering, 1, 1, slices_of(tile));
  if (problem.narrow)
    weights.bytes = problem.narrow;
  else if (accumulates_in_fp16(tile) && !problem.scales_sums && should_multiply_halves(lowering))
    weights.run = kRunOfSlices;
  else if (reads_bytes(tile))
    weights.bytes = byte_weights(lowering, 1, can_scale_sums(tile, true));
  if (std::holds_alternative<InvocationTile>(tile) || multiplies_bytes(tile))
    weights.bytes = in_steps(lowering, weights.bytes, problem.activation);
  if (multiplies_bytes(tile)) weights.bytes = for_byte_matrices(weights.bytes);
  if (reads_narrow_weights(tile))
    weights.bytes = in_dot_products(lowering, weights.bytes, problem.products());
  ConvExtras extras{.residual = read_residual(lowering), .scaling = problem.scaling};
  if (problem.has_scale) extras.scale = lowering.read(4, Layout::channels4);
  TensorId x = lowering.read(0, Layout::channels4);
  if (extras.scale != kNoTensor && !has_room_for_scale(lowering, x, extras)) {
    x = scaled(lowering, x, extras);
    extras.scale = kNoTensor;
  }
  const TensorId y = lowering.write(0, Layout::channels4);
  dispatch_pointwise(lowering, x, y, weights, tile, problem.activation, conv_values(lowering, weights),
                     extras);
}

// Returns the number of pixels of a slice, counted over columns, rows and images, that are contiguous in
// memory; 0 if not even a row is.
int64_t row_pixels(const TensorDesc& x) {
  const auto [n, c, h, w] = nchw(x.shape);
  if (x.storage == Storage::image2d) return h == 1 ? n * w : w;
  return x.storage == Storage::buffer && !x.rows_first && n == 1 ? h * w : 0;
}

// Whether the pixels of each tile are contiguous in memory, so that they share a running offset.
bool are_contiguous(const DeviceCaps& caps, const TensorDesc& x, int64_t pixels) {
  const auto [n, c, h, w] = nchw(x.shape);
  if (x.storage == Storage::image2d && device_traits(caps).contiguous_image_pixels)
    return w % pixels == 0 || (h == 1 && n * w >= pixels);
  return x.storage == Storage::buffer && !x.rows_first && n == 1 && h * w >= pixels;
}

// Returns the invocations along x of a workgroup that computes all pixels. The workgroup is small enough that
// its invocations can use all registers.
int64_t row_of_all_pixels(const DeviceCaps& caps, const InvocationTile& tile, int64_t pixel_blocks) {
  const int64_t row =
      std::min<int64_t>(kRowWorkgroup, device_traits(caps).most_full_register_group / tile.split_k());
  return divide_up(pixel_blocks, row) * row;
}

// Makes each workgroup compute some slices of all pixels, so that it can compute their means.
void take_means(Dispatch& dispatch, const DeviceCaps& caps, const InvocationTile& tile, int64_t pixel_blocks,
                int64_t slice_blocks) {
  const auto parts = static_cast<uint32_t>(tile.split_k());
  dispatch.workgroup_size = {static_cast<uint32_t>(row_of_all_pixels(caps, tile, pixel_blocks)), parts, 1};
  dispatch.workgroup_count = {1, static_cast<uint32_t>(slice_blocks), 1};
  if (parts > 1 && loads_uniform_weights_cheaply(caps, parts)) dispatch.subgroup_size = caps.subgroup_size;
  define(dispatch, "UNIFORM_SLICES");
  define(dispatch, "MEAN");
  dispatch.fused = FusedKernelId::mean;
}

// Makes each workgroup compute all slices of some pixels, so that it can normalise their channels.
void normalise_pixels(Dispatch& dispatch, const DeviceCaps& caps, const InvocationTile& tile,
                      const PixelNorm& norm, int64_t pixel_blocks, const ConvWeights& weights) {
  const int64_t lanes = weights.blocks() * norm.pixel_tiles, parts = tile.split_k();
  const Grid grid = workgroups_in_a_row(caps, divide_up(pixel_blocks, norm.pixel_tiles));
  dispatch.workgroup_size = {static_cast<uint32_t>(lanes), static_cast<uint32_t>(parts), 1};
  dispatch.workgroup_count = grid.workgroup_count;
  define(dispatch, "NORM", std::to_string(norm.pixel_tiles));
  define(dispatch, "NORM_EPSILON", std::to_string(std::bit_cast<uint32_t>(norm.epsilon)) + "u");
  if (!norm.centred) define(dispatch, "UNCENTRED");
  if (norm.activates_last) define(dispatch, "ACTIVATE_LAST");
  if (weights.outputs % 4 != 0) define(dispatch, "MASKED");
  dispatch.bindings.push_back(reads("factors", norm.factors));
  if (norm.layer != kNoTensor) {
    define(dispatch, "WITH_LAYER");
    // Before y, so that it rather than y shares the memory of the residual: a sum of residuals lives as long.
    const auto y = std::ranges::find(dispatch.bindings, "y", &Binding::name);
    dispatch.bindings.insert(y, writes("layer", norm.layer));
  }
  const int64_t row_lanes = lanes * parts / (tile.output.pixels * norm.pixel_tiles);
  dispatch.iterations += 3 * loop_iterations(divide_up(slices(weights.outputs), row_lanes)) +
                         2 * loop_iterations(row_lanes) + loop_iterations(parts);
  dispatch.fused = FusedKernelId::norm;
}

void dispatch_tiles(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                    const InvocationTile& tile, const Activation& activation, WeightValues values,
                    const ConvExtras& extras) {
  const DeviceCaps& caps = lowering.caps();
  const Shape& shape = lowering.tensor(x).desc.shape;
  const auto [n, c, h, w] = nchw(shape);
  const TensorId grid = packed_weights(lowering, weight_grid(lowering, weights), std::move(values));
  const int64_t blocks = whole_subgroups(caps, tile, divide_up(n * h * w, tile.output.pixels));
  Dispatch dispatch = make_dispatch(
      "conv_pointwise", {},
      {reads("x", x), reads_weights(lowering, grid, weights, tile.broadcasts()), writes("y", y)},
      ConvPointwiseParameters{.x_shape = texel_shape(shape),
                              .y_shape = texel_shape(lowering.tensor(y).desc.shape),
                              .activation_params = activation_params_or_bounds(activation),
                              .residual_shape = residual_shape(lowering, extras.residual)});
  dispatch.macs = static_cast<uint64_t>(n * h * w * c * weights.outputs);
  dispatch.iterations =
      kShortLoops + slice_iterations(lowering.tensor(x).desc, slices(c), weights.adds_in_runs());
  define_tile(dispatch, tile);
  if (extras.mean)
    take_means(dispatch, caps, tile, blocks, weights.blocks());
  else if (extras.norm)
    normalise_pixels(dispatch, caps, tile, *extras.norm, blocks, weights);
  else
    cover_blocks(dispatch, caps, lowering.tensor(grid).desc.storage, tile, {blocks, weights.blocks(), 1},
                 blocks * weights.blocks());
  const DeviceTraits& traits = device_traits(caps);
  const bool contiguous = tile.output.pixels > 1 && !tile.broadcasts() &&
                          are_contiguous(caps, lowering.tensor(x).desc, tile.output.pixels);
  int64_t ahead = slices_ahead(caps, tile.output, weights.run.of_halves(), contiguous);
  if (extras.scale != kNoTensor)
    // Scales are in registers, too, and with split-K also coordinates.
    ahead = std::min<int64_t>(ahead, tile.output.pixels == 8 && tile.split_k() > 1 &&
                                             lowering.tensor(x).desc.storage != Storage::buffer
                                         ? 1
                                         : traits.most_scaled_ahead);
  if (ahead > 1 && !tile.broadcasts()) define(dispatch, "AHEAD", std::to_string(ahead));
  if (traits.recompute_positions) define(dispatch, "RECOMPUTE_POSITIONS");
  if (contiguous) define(dispatch, "CONTIGUOUS");
  if (contiguous && loads_four_pixels(lowering, x, tile.output, h * w)) {
    define(dispatch, "FOUR_PIXELS");
    dispatch.bindings[0] = reads_words4("x", x);
  }
  define_halves(dispatch, weights.run);
  add_byte_weights(lowering, dispatch, weights);
  define_results(lowering, dispatch, activation);
  add_extras(dispatch, extras, n);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

std::vector<KernelCandidate> pointwise_candidates(const ConvProblem& problem, const DeviceCaps& caps) {
  std::vector<KernelCandidate> candidates;
  for (const auto& [name, cost, tile, us] : pointwise_tiles("pointwise", caps,
                                                            {.pixels = problem.whole_pixels(),
                                                            .inputs = problem.inputs,
                                                            .outputs = problem.outputs,
                                                            .precision = problem.precision,
                                                            .row_pixels = problem.row_pixels,
                                                            .multiplies_bytes = problem.multiplies_bytes,
                                                            .adds_integers = problem.adds_integers},
                                                            problem.has_scale)) {
    if (problem.adds_integers && !can_scale_sums(tile, problem.exceeds_floats)) continue;
    if (problem.narrow && !reads_narrow_weights(tile)) continue;
    candidates.push_back(
        {name, cost, [problem, tile = tile](Lowering& lowering) { emit_pointwise(lowering, problem, tile); },
         us});
  }
  return candidates;
}

int64_t slices_of(const PointwiseTile& tile) {
  const auto* invocation = std::get_if<InvocationTile>(&tile);
  return invocation ? invocation->output.slices : 1;
}

bool reads_bytes(const PointwiseTile& tile) {
  const auto* matrix = std::get_if<MatrixTile>(&tile);
  return !matrix || reads_bytes(*matrix);
}

bool multiplies_bytes(const PointwiseTile& tile) {
  const auto* matrix = std::get_if<MatrixTile>(&tile);
  return matrix && multiplies_bytes(*matrix);
}

bool reads_narrow_weights(const PointwiseTile& tile) {
  const auto* invocation = std::get_if<InvocationTile>(&tile);
  return invocation && !invocation->broadcasts();
}

PointwiseCandidates tiles_for(const ByteWeightsPointer& narrow, PointwiseCandidates tiles) {
  if (narrow) std::erase_if(tiles, [](const auto& tile) { return !reads_narrow_weights(tile.parameters); });
  return tiles;
}

bool accumulates_in_fp16(const PointwiseTile& tile) {
  const auto* invocation = std::get_if<InvocationTile>(&tile);
  return invocation && !invocation->broadcasts();
}

bool holds_all_pixels(const DeviceCaps& caps, const InvocationTile& tile, int64_t pixels) {
  constexpr int64_t kMostTiles = 256, kTexel = 16;
  const int64_t row = row_of_all_pixels(caps, tile, divide_up(pixels, tile.output.pixels));
  const int64_t invocations = row * tile.split_k();
  // Shared memory holds a partial mean of each invocation, and with split-K the partial sums.
  const int64_t texels =
      invocations * (1 + (tile.split_k() > 1 ? tile.output.pixels * tile.output.slices : 0));
  if (invocations > device_traits(caps).most_full_register_group) return false;
  return row <= kMostTiles && row <= caps.max_workgroup_size[0] &&
         tile.split_k() <= caps.max_workgroup_size[1] && invocations <= caps.max_workgroup_invocations &&
         kTexel * texels <= caps.max_shared_memory_bytes;
}

std::vector<ParameterCandidate<PointwiseTile>> pointwise_tiles(const std::string& algorithm,
                                                               const DeviceCaps& caps,
                                                               const MatrixProblem& problem, bool has_scale) {
  const int64_t macs = problem.pixels * problem.inputs * problem.outputs;
  const TileDemand demand{problem.pixels,
                          1,
                          slices(problem.outputs),
                          macs,
                          {.operations = has_scale ? 1 : 0},
                          true,
                          problem.precision == Precision::fp16,
                          problem.row_pixels};
  std::vector<ParameterCandidate<PointwiseTile>> candidates;
  const auto add = [&](const auto& candidate) {
    candidates.push_back(
        {candidate.name, candidate.predicted_cost, candidate.parameters, candidate.predicted_us});
  };
  std::vector<PricedTile> whole_sums = output_tiles(caps, demand);
  const auto split_sums = split_tiles(whole_sums, caps, demand, slices(problem.inputs));
  std::ranges::for_each(with_subgroup_broadcast(algorithm, caps, whole_sums, demand), add);
  for (const auto& [tile, cost, us] : split_sums)
    candidates.push_back({tile_name(algorithm, tile), cost, tile, us});
  std::ranges::for_each(matrix_tiles(caps, problem, cost_of_microsecond(candidates)), add);
  return candidates;
}

void dispatch_pointwise(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                        const PointwiseTile& tile, const Activation& activation, WeightValues values,
                        const ConvExtras& extras) {
  if (const auto* matrix = std::get_if<MatrixTile>(&tile))
    return dispatch_matrix(lowering, x, y, weights, *matrix, {}, activation, std::move(values), extras);
  dispatch_tiles(lowering, x, y, weights, std::get<InvocationTile>(tile), activation, std::move(values),
                 extras);
}

void emit_best_pointwise(Lowering& lowering, const MatrixProblem& problem, TensorId x, TensorId y,
                         const Activation& activation, size_t weights, const ConvExtras& extras) {
  MatrixProblem of_x = problem;
  of_x.row_pixels = row_pixels(lowering.tensor(x).desc);
  const ByteWeightsPointer narrow = narrow_weights(lowering, weights);
  const PointwiseTile tile =
      lowering.best_of(tiles_for(narrow, pointwise_tiles("pointwise", lowering.caps(), of_x)));
  ConvWeights packed{problem.inputs, problem.outputs, 1, 1, slices_of(tile)};
  if (narrow)
    packed.bytes = narrow;
  else if (accumulates_in_fp16(tile) && should_multiply_halves(lowering))
    packed.run = kRunOfSlices;
  else if (reads_bytes(tile))
    packed.bytes = byte_weights(lowering, weights);
  dispatch_pointwise(lowering, x, y, packed, tile, activation, conv_values(lowering, packed, weights),
                     extras);
}

}  // namespace vellum

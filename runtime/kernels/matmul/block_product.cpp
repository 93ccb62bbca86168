// Lowers BlockProduct (MatMulNBits): the kernel expands weights of 2, 4 or 8 bits.
#include "graph/operators/matmul/block_product.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost/device_traits.hpp"
#include "kernels/conv/tile.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/shared_loop.hpp"
#include "kernels/framework/strided.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/block_product.h"

namespace vellum {
namespace {

constexpr int64_t kWordBits = 32;

// The loop along a column of the weights: units of a few words, each of them within one block.
struct Units {
  int64_t words = 1;     // of a unit
  int64_t integers = 8;  // of a unit
  int64_t count = 0;     // of a column, as far as A reaches
  int64_t block_shift = 0;
};

Units units_of(const BlockWeights& weights) {
  constexpr int64_t kMostIntegers = 32;
  Units units;
  const int64_t block_words = weights.block * weights.bits / kWordBits;
  units.words = std::min(block_words, kMostIntegers * weights.bits / kWordBits);
  units.integers = units.words * kWordBits / weights.bits;
  units.count = divide_up(weights.rows, units.integers);
  units.block_shift = std::countr_zero(static_cast<uint64_t>(block_words / units.words));
  return units;
}

struct Form {
  int64_t rows = 0;
  OutputTile tile;
  Units units;
  SharedLoop loop;
  LoopBy by = LoopBy::invocation;
};

// With at most this many rows, loading and expanding weights takes longer than multiplying them. Tiles are
// then as wide as registers allow, because every tile loads the rows (on lavapipe 4 columns took 1.6 times as
// long as 16).
constexpr int64_t kFewRows = 2;

// Returns the tile if invocations share sums: four columns of a few rows.
OutputTile shared_tile(int64_t rows) {
  constexpr int64_t kMost = 8;
  return {static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(rows, 1, kMost)))), 1};
}

OutputTile whole_sum_tile(Lowering& lowering, int64_t rows, const BlockWeights& weights) {
  rows = lowering.of_whole(rows);
  std::vector<ParameterCandidate<OutputTile>> candidates;
  for (const auto& [tile, cost, us] : output_tiles(
           lowering.caps(), {rows, 1, divide_up(weights.columns, 4), rows * weights.columns * weights.rows}))
    candidates.push_back({tile_name("packed product", {tile}), cost, tile, us});
  // Every tile expands the weights again. On CPUs, where registers spill to memory that is faster than
  // loading weights, the largest tile has twice as many rows: on lavapipe 64 rows take 0.7 of the time of
  // 8x4.
  constexpr OutputTile kLargest{8, 4}, kTwice{16, 4};
  if (!device_traits(lowering.caps()).tiles_by_predicted_time && candidates.front().parameters == kLargest &&
      rows >= kTwice.pixels)
    candidates.insert(candidates.begin(),
                      {tile_name("packed product", {kTwice}), candidates.front().predicted_cost / 2, kTwice});
  return lowering.best_of(candidates);
}

// The choice of the loop assumes this many columns, so that a layer and its parts (split_large_layers()) sum
// in the same order.
constexpr int64_t kColumnsOfChoice = 4096;

Form form_of(Lowering& lowering, const BlockWeights& weights) {
  const int64_t quads = divide_up(weights.columns, 4);
  Form form;
  form.rows = element_count(lowering.output_type().shape) / weights.columns;
  form.tile = shared_tile(form.rows);
  form.units = units_of(weights);
  form.loop = {.results = divide_up(form.rows, form.tile.pixels) * kColumnsOfChoice / 4,
               .length = form.units.count,
               .along = true,
               .iterations = static_cast<uint64_t>(2 + form.units.words)};
  form.by = choose_loop(lowering, form.loop);
  if (form.by == LoopBy::invocation)
    form.tile = form.rows <= kFewRows ? OutputTile{form.tile.pixels, std::min<int64_t>(quads, 4)}
                                      : whole_sum_tile(lowering, form.rows, weights);
  form.loop.results = divide_up(form.rows, form.tile.pixels) * divide_up(quads, form.tile.slices);
  return form;
}

std::string zero_points(const Lowering& lowering, bool merges) {
  if (!lowering.has_input(3)) return "0";
  if (merges) return "3";
  return is_float(lowering.input_type(3).dtype) ? "2" : "1";
}

// Returns the storage buffers of a dispatch, on a device that binds no texel buffers.
size_t buffer_count(const Lowering& lowering) {
  return 4 + size_t{lowering.has_input(3)} + size_t{lowering.has_input(4)};
}

// Returns whether scales, zero points and bias can be one tensor, for devices with few buffers.
bool can_merge(const Lowering& lowering) {
  constexpr uint32_t kBuffers = 4;
  return lowering.caps().max_storage_buffers_per_stage >= kBuffers &&
         (!lowering.has_input(4) || lowering.constant(4));
}

// Returns one tensor with each scale and its zero point, if there are zero points, and then the bias, if
// there is one.
TensorId merged_scales(Lowering& lowering, const BlockWeights& weights) {
  const HostTensor scales = *lowering.constant(2);
  std::optional<HostTensor> zeros, bias;
  if (lowering.has_input(3)) zeros = *lowering.constant(3);
  if (lowering.has_input(4)) bias = *lowering.constant(4);
  const int64_t count = scales.elements() * (zeros ? 2 : 1) + (bias ? weights.columns : 0);
  const auto make = [scales, zeros, bias, weights] {
    std::vector<float> all = scales.to_floats();
    if (zeros) {
      const std::vector<float> points = weights.zero_points(&*zeros), alone = std::exchange(all, {});
      for (size_t i = 0; i < alone.size(); ++i) all.insert(all.end(), {alone[i], points[i]});
    }
    if (bias) std::ranges::copy(bias->to_floats(), std::back_inserter(all));
    return all;
  };
  return lowering.weight(lowering.node().name + "/scales",
                         {{count}, ElementType::f32, Storage::buffer, Layout::linear}, WeightValues(make));
}

// Returns the tensor that the kernel writes. If rows of y are not whole texels, it is a workspace whose rows
// are padded to whole texels.
TensorId written_rows(Lowering& lowering, TensorId y, int64_t rows, int64_t columns) {
  if (columns % 4 == 0) return y;
  TensorDesc desc = lowering.tensor(y).desc;
  desc.shape = {rows, divide_up(columns, 4) * 4};
  return lowering.workspace(lowering.node().name + "/rows", desc);
}

}  // namespace

void lower_block_product(Lowering& lowering) {
  const auto& op = lowering.op<BlockProduct>();
  const BlockWeights& weights = op.weights;
  const bool merges = buffer_count(lowering) > lowering.caps().max_storage_buffers_per_stage;
  if (merges && !can_merge(lowering))
    return lowering.run_on_host("a product with packed weights of " + std::to_string(buffer_count(lowering)) +
                                " tensors has more than the device's buffers");
  const Form form = form_of(lowering, weights);
  constexpr int64_t kSmallTile = 8;
  const bool loads_wide = form.tile.pixels * form.tile.slices <= kSmallTile && form.units.words % 4 == 0;
  const bool loads_quads = !loads_wide && form.units.words % 4 == 0 && loads_words4(lowering.caps());
  const TensorId w = lowering.constant_as_stored(1);
  std::vector<Binding> bindings{
      reads("x", lowering.read(0, Layout::linear)),
      loads_wide || loads_quads ? reads_words4("w", w) : reads("w", w),
      reads("scales", merges ? merged_scales(lowering, weights) : lowering.constant_as_stored(2))};
  if (lowering.has_input(3) && !merges) bindings.push_back(reads("zeros", lowering.constant_as_stored(3)));
  if (lowering.has_input(4) && !merges) bindings.push_back(reads("bias", lowering.read(4, Layout::linear)));
  const TensorId y = lowering.write(0, Layout::linear);
  const TensorId rows = written_rows(lowering, y, form.rows, weights.columns);
  bindings.push_back(writes("y", rows));
  Dispatch dispatch = loop_dispatch(
      lowering.caps(), "block_product", form.loop, form.by, std::move(bindings),
      BlockProductParameters{.activation_params = activation_params_or_bounds(op.activation),
                             .y_rows = form.rows,
                             .y_columns = weights.columns,
                             .depth = weights.rows,
                             .column_words = weights.column_integers() * weights.bits / kWordBits,
                             .blocks = weights.blocks(),
                             .units = form.units.count,
                             .block_shift = form.units.block_shift,
                             .zero_bytes = divide_up(weights.blocks() * weights.bits, 8)});
  dispatch.macs = lowering.macs();
  define(dispatch, "BITS", std::to_string(weights.bits));
  define(dispatch, "UNIT_WORDS", std::to_string(form.units.words));
  define_tile(dispatch, {form.tile});
  if (loads_wide) define(dispatch, "WIDE_LOADS");
  if (loads_quads) define(dispatch, "WORD_QUADS");
  if (form.rows > kFewRows) define(dispatch, "SCALED_WEIGHTS");
  define(dispatch, "ZEROS", zero_points(lowering, merges));
  define(dispatch, "HAS_BIAS", !lowering.has_input(4) ? "0" : merges ? "2" : "1");
  if (weights.rows % 4 == 0) define(dispatch, "QUADS");
  if (weights.rows % form.units.integers != 0) define(dispatch, "PARTIAL");
  define_activation_or_bounds(dispatch, op.activation);
  lowering.dispatch(std::move(dispatch));
  if (rows != y)
    strided_copy(lowering, rows, y, {{form.rows, weights.columns}, {{divide_up(weights.columns, 4) * 4, 1}}},
                 0);
}

}  // namespace vellum

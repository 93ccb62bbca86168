#include "kernels/conv/split_k.hpp"

#include <algorithm>

#include "kernels/conv/dispatch.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/matmul/sum_parts.h"

namespace vellum {
namespace {

// Sums over `slices` of input channels, for each of `taps`.
struct SplitSums {
  int64_t enough;    // invocations
  int64_t shortest;  // products that are worth the store and load of a partial sum
  int64_t slices, taps = 1;

  // The split where `invocations` would compute whole sums.
  int64_t split_k(int64_t invocations) const {
    const int64_t most = std::min<int64_t>(16, slices);
    int64_t split = 1;
    while (2 * split <= most && 2 * split * invocations <= enough && slices * taps >= 2 * split * shortest)
      split *= 2;
    return split;
  }
};

int64_t invocations(const TileDemand& demand, const OutputTile& tile) {
  return divide_up(demand.length, tile.pixels) * demand.lines * divide_up(demand.slices, tile.slices);
}

}  // namespace

std::optional<InvocationTile> split_pointwise_tile(const DeviceCaps& caps, const TileDemand& demand,
                                                   int64_t input_slices) {
  const DevicePolicy& policy = device_policy(caps);
  const OutputTile tile = policy.preferred_tile(caps, demand);
  const SplitSums sums{policy.split_k_invocations(true), 16, input_slices};
  const int64_t split = sums.split_k(invocations(demand, tile));
  if (split == 1) return std::nullopt;
  return InvocationTile{tile, SplitK{split}};
}

std::vector<SplitTile> split_window_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                          int64_t input_slices, int64_t taps) {
  const DevicePolicy& policy = device_policy(caps);
  const SplitSums sums{policy.split_k_invocations(false), 32, input_slices, taps};
  const OutputTile narrow = policy.preferred_tile(caps, demand);
  const OutputTile wide{demand.length > 1 ? 4 : 1, demand.slices > 1 ? 2 : 1};
  std::vector<SplitTile> tiles;
  if (narrow == wide) return tiles;
  // A wide tile loads less for what it multiplies.
  for (const auto& [tile, cost] : {std::pair{wide, kSplitKCost}, {narrow, 1.1 * kSplitKCost}})
    if (const int64_t split = sums.split_k(invocations(demand, tile)); split > 1)
      tiles.push_back({{tile, SplitK{split}}, cost});
  return tiles;
}

SumTarget partial_sums(Lowering& lowering, const SumTarget& whole, int64_t split_k) {
  if (split_k == 1) return whole;
  const auto [n, c, h, w] = nchw(lowering.tensor(whole.y).desc.shape);
  const TensorDesc desc{{n * split_k, c, h, w}, ElementType::f32, Storage::buffer, Layout::channels4};
  return {lowering.workspace(lowering.node().name + "/parts", desc), {}, kNoTensor};
}

void reduce_partial_sums(Lowering& lowering, const SumTarget& partial, const SumTarget& whole) {
  if (partial.y == whole.y) return;
  const Shape& shape = lowering.tensor(whole.y).desc.shape;
  Dispatch dispatch =
      make_dispatch("sum_parts", grid_of_texels(lowering.caps(), shape),
                    {reads("parts", partial.y), writes("y", whole.y)},
                    SumPartsParameters{.parts_shape = texel_shape(lowering.tensor(partial.y).desc.shape),
                                       .y_shape = texel_shape(shape),
                                       .activation_params = activation_params_or_bounds(whole.activation),
                                       .residual_shape = residual_shape(lowering, whole.residual)});
  define_activation_or_bounds(dispatch, whole.activation);
  add_extras(dispatch, {.residual = whole.residual}, 1);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

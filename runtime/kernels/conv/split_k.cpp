#include "kernels/conv/split_k.hpp"

#include "kernels/conv/dispatch.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/matmul/sum_parts.h"

namespace vellum {

std::vector<PricedSplitTile> split_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                         int64_t input_slices) {
  const DevicePolicy& policy = device_policy(caps);
  const auto [tile, split_k] = policy.split_tile(caps, demand, input_slices);
  if (split_k == 1) return {};
  std::vector<PricedSplitTile> tiles{{{tile, SplitK{split_k}}}};
  if (const OutputTile whole = policy.preferred_tile(caps, demand); whole != tile)
    tiles.push_back({{whole, SplitK{split_k}}, 1.1 * kSplitKCost});
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
  Dispatch dispatch = make_dispatch(
      "sum_parts", grid_of_texels(lowering.caps(), shape), {reads("parts", partial.y), writes("y", whole.y)},
      SumPartsParameters{.parts_shape = texel_shape(lowering.tensor(partial.y).desc.shape),
                         .y_shape = texel_shape(shape),
                         .activation_params = activation_params_or_bounds(whole.activation),
                         .residual_shape = residual_shape(lowering, whole.residual)});
  define_activation_or_bounds(dispatch, whole.activation);
  add_extras(dispatch, {.residual = whole.residual}, 1);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

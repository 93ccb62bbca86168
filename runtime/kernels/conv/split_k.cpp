#include "kernels/conv/split_k.hpp"

namespace vellum {

std::vector<PricedSplitTile> split_tiles(const DeviceCaps& caps, const TileDemand& demand,
                                         int64_t input_slices) {
  const auto [tile, split_k] = device_policy(caps).split_tile(caps, demand, input_slices);
  if (split_k == 1) return {};
  std::vector<PricedSplitTile> tiles{{{tile, SplitK{split_k}}}};
  if (split_k > 2) tiles.push_back({{tile, SplitK{split_k / 2}}, 1.1 * kSplitKCost});
  return tiles;
}

}  // namespace vellum

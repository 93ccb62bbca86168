#include "kernels/conv/split_k.hpp"

#include <algorithm>

namespace vellum {

std::vector<PricedSplitTile> split_tiles(std::vector<PricedTile>& whole_sums, const DeviceCaps& caps,
                                         const TileDemand& demand, int64_t input_slices) {
  const std::vector<SplitTile> quick = quick_tiles(caps, demand, input_slices);
  const auto& [tile, split_k, us] = quick.front();
  std::vector<PricedSplitTile> tiles;
  if (split_k > 1) tiles.push_back({{tile, SplitK{split_k}}, kSplitKCost, us});
  if (split_k > 2) tiles.push_back({{tile, SplitK{split_k / 2}}, 1.1 * kSplitKCost});
  // After the best tile come tiles that are as quick. Tiles without a split are in `whole_sums` already.
  const double cost = split_k > 1 ? 1.2 * kSplitKCost : 1.1;
  for (const SplitTile& other : quick) {
    const auto whole = std::ranges::find(whole_sums, other.tile, &PricedTile::tile);
    if (other.split_k == 1 && whole != whole_sums.end())
      whole->us = other.us;
    else if (other.split_k > 1 && &other != &quick.front())
      tiles.push_back({{other.tile, SplitK{other.split_k}}, cost, other.us});
  }
  return tiles;
}

}  // namespace vellum

#include "kernels/conv/subgroup_broadcast.hpp"

#include "cost/device_traits.hpp"
#include "kernels/framework/grid.hpp"

namespace vellum {

std::vector<PricedTile> tiles_to_broadcast(const DeviceCaps& caps, const std::vector<PricedTile>& tiles,
                                           const TileDemand& demand) {
  std::vector<PricedTile> shared;
  // A subgroup of 64 invocations already unrolls the loop over weights for 16 slices of input channels;
  // larger subgroups are not used.
  if (!caps.subgroup_broadcast || !subgroups_fill_rows(caps)) return shared;
  for (const PricedTile& priced : tiles)
    if (divide_up(demand.length, priced.tile.pixels) * demand.lines >= caps.subgroup_size)
      shared.push_back(priced);
  return shared;
}

std::vector<ParameterCandidate<InvocationTile>> with_subgroup_broadcast(const std::string& algorithm,
                                                                        const DeviceCaps& caps,
                                                                        const std::vector<PricedTile>& tiles,
                                                                        const TileDemand& demand) {
  std::vector<ParameterCandidate<InvocationTile>> candidates;
  const auto add = [&](const InvocationTile& tile, double cost, double us) {
    candidates.push_back({tile_name(algorithm, tile), cost, tile, us});
  };
  for (const PricedTile& priced : tiles) add({priced.tile}, priced.cost, priced.us);
  const bool cheaper = device_traits(caps).broadcasts_are_cheap;
  for (const PricedTile& priced : tiles_to_broadcast(caps, tiles, demand))
    add({priced.tile, SubgroupBroadcast{}}, (cheaper ? 0.9 : kOnlyIfMeasured) * priced.cost, 0);
  return candidates;
}

int64_t whole_subgroups(const DeviceCaps& caps, const InvocationTile& tile, int64_t blocks) {
  const int64_t lanes = tile.broadcasts() ? caps.subgroup_size : 1;
  return divide_up(blocks, lanes) * lanes;
}

}  // namespace vellum

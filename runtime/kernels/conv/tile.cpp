#include "kernels/conv/tile.hpp"

#include <bit>
#include <cstdlib>

#include "kernels/framework/elements.hpp"

namespace vellum {
namespace {

// Returns how often `a` must be doubled or halved to become `b`; both are powers of two.
int doublings(int64_t a, int64_t b) {
  return std::abs(std::countr_zero(static_cast<uint64_t>(a)) - std::countr_zero(static_cast<uint64_t>(b)));
}

// Returns the relative cost of a tile. It grows with the distance from the preferred tile; the factor is not
// measured.
double cost_of(const OutputTile& tile, const OutputTile& preferred) {
  return 1 + (doublings(tile.pixels, preferred.pixels) + doublings(tile.slices, preferred.slices)) / 8.0;
}

}  // namespace

std::vector<PricedTile> output_tiles(const DeviceCaps& caps, const TileDemand& demand) {
  const OutputTile preferred = preferred_tile(caps, demand);
  const OutputTile smallest = smallest_tile(caps, preferred, demand);
  const auto useful = [](int64_t size, int64_t fewest, int64_t extent) {
    return size >= fewest && (size < 2 * extent || size == 1);
  };
  std::vector<PricedTile> tiles{{preferred, 1}};
  for (const int64_t pixels : {8, 4, 2, 1})
    for (const int64_t slices : {4, 2, 1}) {
      const OutputTile tile{pixels, slices};
      if (useful(pixels, smallest.pixels, demand.length) && useful(slices, smallest.slices, demand.slices) &&
          tile != preferred)
        tiles.push_back({tile, cost_of(tile, preferred)});
    }
  return tiles;
}

int64_t InvocationTile::split_k() const {
  const SplitK* split = std::get_if<SplitK>(&sharing);
  return split ? split->count : 1;
}

KernelName tile_name(std::string algorithm, const InvocationTile& tile) {
  std::string text = std::to_string(tile.output.pixels) + "x" + std::to_string(tile.output.slices);
  if (tile.broadcasts()) text += " subgroup broadcast";
  if (tile.split_k() > 1) text += " split-K " + std::to_string(tile.split_k());
  return {std::move(algorithm), std::move(text)};
}

void define_tile(Dispatch& dispatch, const InvocationTile& tile) {
  dispatch.defines.emplace_back("TILE_P", std::to_string(tile.output.pixels));
  dispatch.defines.emplace_back("TILE_S", std::to_string(tile.output.slices));
  if (tile.broadcasts()) define(dispatch, "BROADCAST");
  if (tile.split_k() > 1) define(dispatch, "PARTS", std::to_string(tile.split_k()));
}

}  // namespace vellum

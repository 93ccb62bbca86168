#include "cost/tiles.hpp"

#include <algorithm>

#include "cost/device_traits.hpp"
#include "cost/timed_tiles.hpp"

namespace vellum {
namespace {

int64_t round_up_to(int64_t length, int64_t size) { return (length + size - 1) / size * size; }

// Tiles are chosen by size on CPUs. There a load costs as much as twenty multiplications, and few invocations
// keep the CPU busy, so that tiles are large. A tile of 4 pixels reaches about 0.7 of the throughput of a
// tile of 8 pixels. The larger tile is chosen unless too many of its pixels are beyond the output.
int64_t pixels_by_size(const DeviceCaps& caps, int64_t length) {
  if (length <= 1) return 1;
  if (device_traits(caps).most_pixels_by_size < 8) return 4;
  return 10 * round_up_to(length, 4) >= 7 * round_up_to(length, 8) ? 8 : 4;
}

// Tiles of four slices take twice as long to compile (0.2 s more on lavapipe) and run a fifth faster. They
// are only for large operators.
int64_t slices_by_size(const TileDemand& demand) {
  constexpr int64_t kLarge = int64_t{3} << 24;
  if (demand.slices % 4 == 0 && demand.macs >= kLarge) return 4;
  return demand.slices > 1 ? 2 : 1;
}

}  // namespace

OutputTile preferred_tile(const DeviceCaps& caps, const TileDemand& demand) {
  if (device_traits(caps).tiles_by_predicted_time) return quickest(caps, demand, 1).tile;
  return {pixels_by_size(caps, demand.length), slices_by_size(demand)};
}

OutputTile smallest_tile(const DeviceCaps& caps, const OutputTile& preferred, const TileDemand& demand) {
  if (device_traits(caps).tiles_by_predicted_time) return {1, 1};
  // On lavapipe tiles of fewer than four pixels, or of one slice if there are many, were never the quickest,
  // because loads cost most.
  return {std::min<int64_t>(preferred.pixels, 4), demand.slices >= 4 ? 2 : 1};
}

std::vector<SplitTile> quick_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split) {
  if (!device_traits(caps).tiles_by_predicted_time) return {{preferred_tile(caps, demand)}};
  const std::vector<SplitTile> timed = timed_tiles(caps, demand, std::min<int64_t>(most_split, 16));
  const SplitTile best = quickest(caps, demand, timed);
  const double efficient = kAsEfficient * code_of(caps, best, demand).efficiency;
  std::vector<SplitTile> quick{best};
  for (const SplitTile& choice : timed)
    if (choice.us <= kEquallyFast * best.us && code_of(caps, choice, demand).efficiency >= efficient &&
        (choice.tile != best.tile || choice.split_k != best.split_k))
      quick.push_back(choice);
  return quick;
}

}  // namespace vellum

// Tilings of any graph for tests: runs of nodes, their axes, numbers of strips and nodes that keep rows at
// random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "passes/tile/strips.hpp"

namespace vellum::test {

inline Tiling random_tiling(const AxisReads& all_reads, uint32_t seed) {
  std::mt19937 dice(seed);
  const auto roll = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(dice);
  };
  Tiling tiling;
  const size_t count = all_reads.graph().nodes.size();
  for (size_t first = 0; first < count;) {
    const ImageAxis axis =
        roll(0, 1) == 0 && can_tile(all_reads.images, first, first + 1) ? ImageAxis::images : ImageAxis::rows;
    const RowReads& reads = all_reads.along(axis);
    size_t end = first;
    while (end < count && can_tile(reads, first, end + 1)) ++end;
    if (end > first + 1 && roll(0, 2) == 0) end = first + static_cast<size_t>(roll(1, int64_t(end - first)));
    const int64_t most = end > first ? most_strips(reads, outputs_of(reads, first, end)) : 1;
    if (most > 1) {
      TiledNodes& tiled = tiling.emplace_back(TiledNodes{first, end, roll(2, std::min<int64_t>(most, 7))});
      tiled.axis = axis;
      const int64_t share = axis == ImageAxis::rows ? roll(0, 3) : 0;  // of nodes that keep rows
      for (size_t n = first; n < end; ++n)
        if (roll(1, 3) <= share) tiled.kept.push_back(n);
    }
    first = std::max(end, first + 1);
  }
  return tiling;
}

}  // namespace vellum::test

// How long the host packs weights: for each weight as long in a large layer as in a small one.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "kernels/conv/weights.hpp"

namespace vellum::test {
namespace {

// The least processor's time of three packings of a 1x1 convolution, in clock ticks a weight.
double ticks_a_weight(int64_t channels, int repetitions) {
  const ConvWeights grid{.inputs = channels, .outputs = channels, .tile_slices = 2};
  const auto weight = [](int64_t m, int64_t c, int64_t) { return static_cast<float>(m - c); };
  double least = 0;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < repetitions; ++i) EXPECT_FALSE(grid.pack(weight, {}).empty());
    const double ticks = static_cast<double>(std::clock() - begin);
    least = round == 0 ? ticks : std::min(least, ticks);
  }
  return least / static_cast<double>(channels * channels * repetitions);
}

// The width of the grid was computed anew for each weight, from all blocks of output channels: 36 s for
// ResNet-50.
TEST(WeightsTime, OfAWeightIsThatOfASmallLayer) {
  EXPECT_LT(ticks_a_weight(1024, 1), 8 * ticks_a_weight(64, 256));
}

}  // namespace
}  // namespace vellum::test

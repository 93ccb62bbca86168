// Tiles by size on CPUs, by predicted time on GPUs.
#include "cost/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "caps/vendors.hpp"
#include "caps_of.hpp"
#include "cost/subgroups.hpp"

namespace vellum::test {
namespace {

TEST(Tiles, CpusWantLargeTilesAndGpusInvocationsFirst) {
  const TileDemand few{7, 7, 16, 0}, many{112, 112, 16, 0}, large{112, 112, 16, int64_t{1} << 27};
  EXPECT_EQ(preferred_tile(kCpu, few), (OutputTile{8, 2}));
  EXPECT_EQ(preferred_tile(kCpu, {4, 7, 16, 0}), (OutputTile{4, 2})) << "eight would idle";
  EXPECT_EQ(preferred_tile(kCpu, large), (OutputTile{8, 4})) << "worth twice the time to compile";
  DeviceCaps swiftshader = kCpu;
  swiftshader.vendor_id = kGoogle;
  EXPECT_EQ(preferred_tile(swiftshader, few), (OutputTile{4, 2})) << "it has few registers";
  EXPECT_EQ(preferred_tile(kCpu, {1, 1, 1, 0}), (OutputTile{1, 1}));
  EXPECT_EQ(preferred_tile(kGpu, few), (OutputTile{2, 1}));
  EXPECT_EQ(preferred_tile(kGpu, many), (OutputTile{4, 2}));
  EXPECT_EQ(preferred_tile(kGpu, large), (OutputTile{4, 2}));
}

// A tile computes more for each load, but a GPU that is not full loses more than that.
TEST(Tiles, TilesOfGpusGrowWithTheWorkAndShrinkWithTheGpu) {
  DeviceCaps caps = kGpu;
  const auto tile = [&](int64_t length, int64_t slices) {
    return preferred_tile(caps, {length, 1, slices, length * slices * 1024});
  };
  EXPECT_EQ(tile(16, 4), (OutputTile{2, 1}));
  EXPECT_EQ(tile(1 << 16, 64), (OutputTile{4, 2}));
  EXPECT_EQ(tile(1 << 16, 1), (OutputTile{8, 1})) << "no more slices than there are";
  EXPECT_EQ(tile(1, 1 << 16), (OutputTile{1, 2}));
  const auto units = [](const OutputTile& t) { return t.pixels * t.slices; };
  EXPECT_LE(units(tile(4096, 8)), units(tile(16384, 8)));
  caps.name = "Turnip Adreno (TM) 660";  // three units
  caps.subgroup_size = 128;
  EXPECT_EQ(tile(784, 16), (OutputTile{4, 2}));
}

// Reducing partial sums must take less than what splitting them saves.
TEST(Tiles, SumsAreSplitWhereTheyAreFewAndLong) {
  const auto split = [](int64_t pixels, int64_t inputs, int64_t most) {
    return quick_tiles(kGpu, {pixels, 1, 64, pixels * inputs * 256}, most).front().split_k;
  };
  EXPECT_GT(split(49, 2048, 512), 1);
  EXPECT_LE(split(49, 2048, 2), 2);
  EXPECT_LE(split(49, 1 << 16, 1 << 14), 16);
  EXPECT_EQ(split(1 << 16, 2048, 512), 1) << "many";
  // Loads that are issued together wait once.
  EXPECT_GT(split(49, 16, 4), 1);
  const TileDemand together{49, 1, 64, int64_t{49} * 16 * 256, {}, true};
  EXPECT_EQ(quick_tiles(kGpu, together, 4).front().split_k, 1);
}

DeviceCaps radeon() {
  DeviceCaps caps = kGpu;
  caps.vendor_id = kAmd;
  caps.full_subgroups = true;
  caps.subgroup_size = 64;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  return caps;
}

TEST(Tiles, PartialSumsFitInSharedMemory) {
  DeviceCaps caps = radeon();
  for (const uint32_t bytes : {16u << 10, 64u << 10}) {
    caps.max_shared_memory_bytes = bytes;
    int64_t most = 0;
    for (const int64_t pixels : {512, 1024})
      for (const int64_t slices : {1, 16, 64, 256}) {
        const TileDemand demand{pixels, 1, slices, pixels * slices * 16 * 512};
        const auto [tile, split_k, us] = quick_tiles(caps, demand, 512).front();
        if (split_k > 1) most = std::max(most, tile.pixels * tile.slices * split_k * 64 * 16);
      }
    EXPECT_EQ(most, std::min<int64_t>(bytes, 32 << 10));
  }
}

// Selects of padding take many of a small tile's instructions, but where loads take the time the tiles are
// equally quick.
TEST(Tiles, OfEquallyQuickTilesTheMostEfficientIsTaken) {
  DeviceCaps caps = radeon();
  caps.name = "NAVI31";
  caps.max_shared_memory_bytes = 64 << 10;
  const TileDemand scaled{49, 1, 48, int64_t{49} * 192 * 1152, {.operations = 1}, true};
  EXPECT_EQ(quick_tiles(caps, scaled, 288).front().tile, (OutputTile{1, 2}));
}

// Rows of a workgroup are whole subgroups if these have a fixed size.
TEST(Tiles, PartsLoadUniformWeightsWhereSubgroupsAreFull) {
  DeviceCaps caps = radeon();
  EXPECT_TRUE(loads_uniform_weights_cheaply(caps, 16));
  EXPECT_FALSE(loads_uniform_weights_cheaply(caps, 32)) << "2048 invocations";
  caps.subgroup_size = 16;
  EXPECT_FALSE(loads_uniform_weights_cheaply(caps, 16)) << "64 subgroups";
  caps.full_subgroups = false;
  EXPECT_FALSE(loads_uniform_weights_cheaply(caps, 4));
  EXPECT_TRUE(loads_uniform_weights_cheaply(caps, 1));
  caps.full_subgroups = true;
  caps.vendor_id = kIntel;
  EXPECT_FALSE(loads_uniform_weights_cheaply(caps, 4)) << "its compiler should choose the size";
}

TEST(Tiles, NoTileThatIsWorthMeasuringIsLargerThanThePreferredOne) {
  for (const DeviceCaps* caps : {&kCpu, &kGpu})
    for (const int64_t length : {1, 3, 7, 112})
      for (const int64_t slices : {1, 2, 4, 64}) {
        const TileDemand demand{length, 28, slices, 0};
        const OutputTile preferred = preferred_tile(*caps, demand);
        const OutputTile smallest = smallest_tile(*caps, preferred, demand);
        EXPECT_LE(smallest.pixels, preferred.pixels);
        EXPECT_LE(smallest.slices, preferred.slices);
      }
}

TEST(Tiles, OnlyGpusSplitSums) {
  const TileDemand few{49, 1, 40, int64_t{49} * 160 * 960};
  EXPECT_EQ(quick_tiles(kCpu, few, 240).front().split_k, 1);
  EXPECT_EQ(quick_tiles(kCpu, few, 240).front().tile, preferred_tile(kCpu, few));
  EXPECT_GT(quick_tiles(kGpu, few, 240).front().split_k, 1);
}

}  // namespace
}  // namespace vellum::test

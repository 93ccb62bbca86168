// The choices for a kind of device.
#include "cost/device_policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "caps/vendors.hpp"
#include "cost/device_rates.hpp"

namespace vellum::test {
namespace {

DeviceCaps caps_of(DeviceType type, uint32_t vendor = 0) {
  DeviceCaps caps;
  caps.type = type;
  caps.vendor_id = vendor;
  return caps;
}

constexpr uint32_t kMesa = 0x10005;
const DeviceCaps kCpu = caps_of(DeviceType::cpu), kGpu = caps_of(DeviceType::discrete_gpu);
const DevicePolicy& cpu() { return device_policy(kCpu); }
const DevicePolicy& gpu() { return device_policy(kGpu); }

TEST(DevicePolicy, EveryTypeButCpusHasTheGpusOne) {
  for (const DeviceType type : {DeviceType::other, DeviceType::integrated_gpu, DeviceType::virtual_gpu})
    EXPECT_EQ(&device_policy(caps_of(type)), &gpu());
  EXPECT_NE(&cpu(), &gpu());
}

TEST(DevicePolicy, CpusWantLargeTilesAndGpusInvocationsFirst) {
  const TileDemand few{7, 7, 16, 0}, many{112, 112, 16, 0}, large{112, 112, 16, int64_t{1} << 27};
  EXPECT_EQ(cpu().preferred_tile(kCpu, few), (OutputTile{8, 2}));
  EXPECT_EQ(cpu().preferred_tile(kCpu, {4, 7, 16, 0}), (OutputTile{4, 2})) << "eight would idle";
  EXPECT_EQ(cpu().preferred_tile(kCpu, large), (OutputTile{8, 4})) << "worth twice the time to compile";
  EXPECT_EQ(cpu().preferred_tile(kCpu, {1, 1, 1, 0}), (OutputTile{1, 1}));
  EXPECT_EQ(gpu().preferred_tile(kGpu, few), (OutputTile{2, 1}));
  EXPECT_EQ(gpu().preferred_tile(kGpu, many), (OutputTile{4, 2}));
  EXPECT_EQ(gpu().preferred_tile(kGpu, large), (OutputTile{4, 2}));
}

// A tile computes more for each load, but a GPU that is not full loses more than that.
TEST(DevicePolicy, TilesOfGpusGrowWithTheWorkAndShrinkWithTheGpu) {
  DeviceCaps caps = kGpu;
  const auto tile = [&](int64_t length, int64_t slices) {
    return device_policy(caps).preferred_tile(caps, {length, 1, slices, length * slices * 1024});
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
TEST(DevicePolicy, SumsAreSplitWhereTheyAreFewAndLong) {
  const auto split = [](int64_t pixels, int64_t inputs, int64_t most) {
    return gpu().quick_tiles(kGpu, {pixels, 1, 64, pixels * inputs * 256}, most).front().split_k;
  };
  EXPECT_GT(split(49, 2048, 512), 1);
  EXPECT_LE(split(49, 2048, 2), 2);
  EXPECT_LE(split(49, 1 << 16, 1 << 14), 16);
  EXPECT_EQ(split(1 << 16, 2048, 512), 1) << "many";
  // Loads that are issued together wait once.
  EXPECT_GT(split(49, 16, 4), 1);
  const TileDemand together{49, 1, 64, int64_t{49} * 16 * 256, {}, true};
  EXPECT_EQ(gpu().quick_tiles(kGpu, together, 4).front().split_k, 1);
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

TEST(DevicePolicy, PartialSumsFitInSharedMemory) {
  DeviceCaps caps = radeon();
  for (const uint32_t bytes : {16u << 10, 64u << 10}) {
    caps.max_shared_memory_bytes = bytes;
    int64_t most = 0;
    for (const int64_t pixels : {512, 1024})
      for (const int64_t slices : {1, 16, 64, 256}) {
        const TileDemand demand{pixels, 1, slices, pixels * slices * 16 * 512};
        const auto [tile, split_k, us] = gpu().quick_tiles(caps, demand, 512).front();
        if (split_k > 1) most = std::max(most, tile.pixels * tile.slices * split_k * 64 * 16);
      }
    EXPECT_EQ(most, std::min<int64_t>(bytes, 32 << 10));
  }
}

// Selects of padding take many of a small tile's instructions, but where loads take the time the tiles are
// equally quick.
TEST(DevicePolicy, OfEquallyQuickTilesTheMostEfficientIsTaken) {
  DeviceCaps caps = radeon();
  caps.name = "NAVI31";
  caps.max_shared_memory_bytes = 64 << 10;
  const TileDemand scaled{49, 1, 48, int64_t{49} * 192 * 1152, {.operations = 1}, true};
  EXPECT_EQ(gpu().quick_tiles(caps, scaled, 288).front().tile, (OutputTile{1, 2}));
}

// Rows of a workgroup are whole subgroups if these have a fixed size.
TEST(DevicePolicy, PartsLoadUniformWeightsWhereSubgroupsAreFull) {
  DeviceCaps caps = radeon();
  EXPECT_TRUE(gpu().loads_uniform_weights_cheaply(caps, 16));
  EXPECT_FALSE(gpu().loads_uniform_weights_cheaply(caps, 32)) << "2048 invocations";
  caps.subgroup_size = 16;
  EXPECT_FALSE(gpu().loads_uniform_weights_cheaply(caps, 16)) << "64 subgroups";
  caps.full_subgroups = false;
  EXPECT_FALSE(gpu().loads_uniform_weights_cheaply(caps, 4));
  EXPECT_TRUE(gpu().loads_uniform_weights_cheaply(caps, 1));
  caps.full_subgroups = true;
  caps.vendor_id = kIntel;
  EXPECT_FALSE(gpu().loads_uniform_weights_cheaply(caps, 4)) << "its compiler should choose the size";
}

TEST(DevicePolicy, NoTileThatIsWorthMeasuringIsLargerThanThePreferredOne) {
  for (const DeviceCaps* caps : {&kCpu, &kGpu})
    for (const int64_t length : {1, 3, 7, 112})
      for (const int64_t slices : {1, 2, 4, 64}) {
        const TileDemand demand{length, 28, slices, 0};
        const OutputTile preferred = device_policy(*caps).preferred_tile(*caps, demand);
        const OutputTile smallest = device_policy(*caps).smallest_tile(preferred, demand);
        EXPECT_LE(smallest.pixels, preferred.pixels);
        EXPECT_LE(smallest.slices, preferred.slices);
      }
}

TEST(DevicePolicy, OnlyGpusSplitSumsAndMultiplyMatrices) {
  const TileDemand few{49, 1, 40, int64_t{49} * 160 * 960};
  EXPECT_EQ(cpu().quick_tiles(kCpu, few, 240).front().split_k, 1);
  EXPECT_EQ(cpu().quick_tiles(kCpu, few, 240).front().tile, cpu().preferred_tile(kCpu, few));
  EXPECT_GT(gpu().quick_tiles(kGpu, few, 240).front().split_k, 1);
  EXPECT_FALSE(cpu().multiplies_cooperative_matrices());
  EXPECT_TRUE(gpu().multiplies_cooperative_matrices());
}

TEST(DevicePolicy, WhatTheDriverDoesIsKnownOfLavapipeAlone) {
  DeviceCaps lavapipe = caps_of(DeviceType::cpu, kMesa), radeon = caps_of(DeviceType::discrete_gpu, kMesa);
  for (DeviceCaps* caps : {&lavapipe, &radeon}) caps->process = ProcessTraits{"", {}, 1, 2, 3};
  EXPECT_TRUE(cpu().compiles_at_first_dispatch(lavapipe));
  EXPECT_FALSE(cpu().compiles_at_first_dispatch(caps_of(DeviceType::cpu))) << "SwiftShader";
  EXPECT_FALSE(gpu().compiles_at_first_dispatch(radeon));
  EXPECT_EQ(cpu().process_traits(lavapipe)->driver_bytes, 1u);
  EXPECT_GT(cpu().process_traits(caps_of(DeviceType::cpu, kMesa))->driver_bytes, 1u) << "as usual";
  EXPECT_FALSE(gpu().process_traits(radeon));
}

TEST(DevicePolicy, RatesAreThoseOfTheChipInTheName) {
  EXPECT_EQ(chip_rates("AMD Radeon Graphics (RADV NAVI31)")->units, 192u);
  EXPECT_EQ(chip_rates("Turnip Adreno (TM) 660")->units, 3u);
  EXPECT_FALSE(chip_rates("llvmpipe (LLVM 15.0.6, 256 bits)"));
}

// One launch and one barrier less is worth more than what small layers compute, not more than large ones do.
TEST(DevicePolicy, OneKernelComputesSmallSeparableLayersOnGpus) {
  DeviceCaps caps = caps_of(DeviceType::discrete_gpu, kAmd);
  caps.name = "NAVI31";
  caps.subgroup_size = 64;
  caps.max_shared_memory_bytes = 64 << 10;
  const auto tiles = [&](const SeparableDemand& demand) {
    return device_policy(caps).separable_tiles(caps, demand);
  };
  const SeparableDemand small{.width = 16, .height = 16, .inputs = 24, .outputs = 24};
  const SeparableDemand large{.width = 56, .height = 56, .inputs = 256, .outputs = 256};
  EXPECT_FALSE(tiles(small).empty());
  EXPECT_TRUE(tiles(large).empty());
  EXPECT_TRUE(cpu().separable_tiles(kCpu, small).empty());
}

TEST(DevicePolicy, TilesOfSeparableLayersFitTheDevice) {
  for (const uint32_t vendor : {kAmd, kNvidia, kIntel, kQualcomm, kArm})
    for (const uint32_t shared : {16u << 10, 32u << 10, 64u << 10})
      for (const int64_t inputs : {1, 9, 36, 144, 240, 600})
        for (const int64_t side : {1, 7, 14, 56}) {
          DeviceCaps caps = caps_of(DeviceType::integrated_gpu, vendor);
          caps.max_shared_memory_bytes = shared;
          const SeparableDemand demand{
              .width = side, .height = side, .inputs = inputs, .outputs = inputs / 4 + 1, .texel_bytes = 8};
          for (const SeparableTile& tile : device_policy(caps).separable_tiles(caps, demand)) {
            EXPECT_LE(tile.shared_bytes(demand), std::min(shared, 32u << 10));
            EXPECT_GE(tile.shared_bytes(demand), 8 * inputs * tile.pixels());
            EXPECT_LE(tile.invocations(), caps.max_workgroup_invocations);
            EXPECT_LE(tile.invocations(), vendor == kQualcomm ? 64 : 256) << "half the registers";
            EXPECT_EQ(tile.pixels() % tile.tile.pixels, 0);
            EXPECT_EQ(tile.slices % tile.tile.slices, 0);
          }
        }
}

}  // namespace
}  // namespace vellum::test

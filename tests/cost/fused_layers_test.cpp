// Kernels for several layers, by predicted time.
#include "cost/fused_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "caps/vendors.hpp"
#include "caps_of.hpp"

namespace vellum::test {
namespace {

// One launch and one barrier less is worth more than what small layers compute, not more than large ones do.
TEST(FusedLayers, OneKernelComputesSmallSeparableLayersOnGpus) {
  DeviceCaps caps = caps_of(DeviceType::discrete_gpu, kAmd);
  caps.name = "NAVI31";
  caps.subgroup_size = 64;
  caps.max_shared_memory_bytes = 64 << 10;
  const auto tiles = [&](const SeparableDemand& demand) { return separable_tiles(caps, demand); };
  const SeparableDemand small{.width = 16, .height = 16, .inputs = 24, .outputs = 24};
  const SeparableDemand large{.width = 56, .height = 56, .inputs = 256, .outputs = 256};
  EXPECT_FALSE(tiles(small).empty());
  EXPECT_TRUE(tiles(large).empty());
  EXPECT_TRUE(separable_tiles(kCpu, small).empty());
}

TEST(FusedLayers, TilesOfSeparableLayersFitTheDevice) {
  for (const uint32_t vendor : {kAmd, kNvidia, kIntel, kQualcomm, kArm})
    for (const uint32_t shared : {16u << 10, 32u << 10, 64u << 10})
      for (const int64_t inputs : {1, 9, 36, 144, 240, 600})
        for (const int64_t side : {1, 7, 14, 56}) {
          DeviceCaps caps = caps_of(DeviceType::integrated_gpu, vendor);
          caps.max_shared_memory_bytes = shared;
          const SeparableDemand demand{
              .width = side, .height = side, .inputs = inputs, .outputs = inputs / 4 + 1, .texel_bytes = 8};
          for (const SeparableTile& tile : separable_tiles(caps, demand)) {
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

// What kernels ask of a kind of device.
#include "caps/device_policy.hpp"

#include <gtest/gtest.h>

namespace vellum::test {
namespace {

DeviceCaps caps_of(DeviceType type, uint32_t vendor = 0) {
  DeviceCaps caps;
  caps.type = type;
  caps.vendor_id = vendor;
  return caps;
}

constexpr uint32_t kMesa = 0x10005;
const DevicePolicy& cpu() { return device_policy(caps_of(DeviceType::cpu)); }
const DevicePolicy& gpu() { return device_policy(caps_of(DeviceType::discrete_gpu)); }

TEST(DevicePolicy, EveryTypeButCpusHasTheGpusOne) {
  for (const DeviceType type : {DeviceType::other, DeviceType::integrated_gpu, DeviceType::virtual_gpu})
    EXPECT_EQ(&device_policy(caps_of(type)), &gpu());
  EXPECT_NE(&cpu(), &gpu());
}

TEST(DevicePolicy, CpusWantLargeTilesAndGpusInvocationsFirst) {
  const TileDemand few{7, 7, 16, 0}, many{112, 112, 16, 0}, large{112, 112, 16, int64_t{1} << 27};
  EXPECT_EQ(cpu().preferred_tile(few), (OutputTile{8, 2}));
  EXPECT_EQ(cpu().preferred_tile({4, 7, 16, 0}), (OutputTile{4, 2})) << "eight would idle";
  EXPECT_EQ(cpu().preferred_tile(large), (OutputTile{8, 4})) << "worth twice the time to compile";
  EXPECT_EQ(cpu().preferred_tile({1, 1, 1, 0}), (OutputTile{1, 1}));
  EXPECT_EQ(gpu().preferred_tile(few), (OutputTile{1, 1}));
  EXPECT_EQ(gpu().preferred_tile(many), (OutputTile{4, 2}));
  EXPECT_EQ(gpu().preferred_tile(large), (OutputTile{4, 2}));
}

TEST(DevicePolicy, NoTileThatIsWorthMeasuringIsLargerThanThePreferredOne) {
  for (const DevicePolicy* policy : {&cpu(), &gpu()})
    for (const int64_t length : {1, 3, 7, 112})
      for (const int64_t slices : {1, 2, 4, 64}) {
        const TileDemand demand{length, 28, slices, 0};
        const OutputTile preferred = policy->preferred_tile(demand);
        const OutputTile smallest = policy->smallest_tile(preferred, demand);
        EXPECT_LE(smallest.pixels, preferred.pixels);
        EXPECT_LE(smallest.slices, preferred.slices);
      }
}

TEST(DevicePolicy, OnlyGpusSplitSumsAndMultiplyMatrices) {
  for (const bool pointwise : {true, false}) {
    EXPECT_EQ(cpu().split_k_invocations(pointwise), 0);
    EXPECT_GT(gpu().split_k_invocations(pointwise), 1000);
  }
  EXPECT_FALSE(cpu().multiplies_cooperative_matrices());
  EXPECT_TRUE(gpu().multiplies_cooperative_matrices());
}

TEST(DevicePolicy, WhatTheDriverDoesIsKnownOfLavapipeAlone) {
  DeviceCaps lavapipe = caps_of(DeviceType::cpu, kMesa), radeon = caps_of(DeviceType::discrete_gpu, kMesa);
  for (DeviceCaps* caps : {&lavapipe, &radeon}) caps->process = ProcessTraits{1, 2, 3};
  EXPECT_TRUE(cpu().compiles_at_first_dispatch(lavapipe));
  EXPECT_FALSE(cpu().compiles_at_first_dispatch(caps_of(DeviceType::cpu))) << "SwiftShader";
  EXPECT_FALSE(gpu().compiles_at_first_dispatch(radeon));
  EXPECT_TRUE(cpu().process_traits(lavapipe));
  EXPECT_FALSE(gpu().process_traits(radeon));
}

}  // namespace
}  // namespace vellum::test

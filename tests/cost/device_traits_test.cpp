// The table of traits, and the uses of those that no other test of this folder reads.
#include "cost/device_traits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "caps/vendors.hpp"
#include "caps_of.hpp"
#include "cost/depthwise_tile.hpp"
#include "cost/device_rates.hpp"
#include "cost/gates.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "cost/tiles.hpp"

namespace vellum::test {
namespace {

TEST(DeviceTraits, EveryTypeButCpusHasThoseOfAGpu) {
  for (const DeviceType type : {DeviceType::other, DeviceType::integrated_gpu, DeviceType::virtual_gpu}) {
    EXPECT_EQ(&device_traits(caps_of(type)), &device_traits(kGpu));
    EXPECT_EQ(&device_traits(caps_of(type, kArm)), &gpu_traits(kArm));
  }
  EXPECT_NE(&device_traits(kCpu), &device_traits(kGpu));
  EXPECT_EQ(&gpu_traits(kMesa), &device_traits(kGpu)) << "lavapipe where it is treated as a GPU";
}

TEST(DeviceTraits, AreThoseOfTheCapsWhereTheyHaveSome) {
  DeviceCaps caps = caps_of(DeviceType::discrete_gpu, kAmd);
  DeviceTraits traits = vendor_traits(caps);
  traits.latency_ns = 7;
  traits.weights_in_buffers = false;
  caps.traits = std::make_shared<const DeviceTraits>(traits);
  EXPECT_FALSE(device_traits(caps).weights_in_buffers);
  EXPECT_EQ(device_rates(caps).latency_ns, 7);
  caps.name = "NAVI31";
  EXPECT_EQ(device_rates(caps).latency_ns, 7);
  EXPECT_TRUE(vendor_traits(caps).weights_in_buffers);
}

// Numbers of a row must be what a caps file may say, and names be unique.
TEST(DeviceTraits, OfEachVendorAreInRange) {
  std::vector<DeviceCaps> devices{kCpu, kGpu, caps_of(DeviceType::cpu, kMesa)};
  for (const uint32_t vendor : {kAmd, kIntel, kNvidia, kArm, kQualcomm, kImagination, kApple})
    devices.push_back(caps_of(DeviceType::integrated_gpu, vendor));
  for (const DeviceCaps& caps : devices) {
    std::set<std::string> names;
    visit_traits(device_traits(caps), [&](const char* name, const auto& value, const TraitRange& range) {
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_GE(static_cast<double>(value), range.least) << name;
      EXPECT_LE(static_cast<double>(value), range.most) << name;
    });
  }
}

TEST(DeviceTraits, WhatTheDriverDoesIsKnownOfLavapipeAlone) {
  DeviceCaps lavapipe = caps_of(DeviceType::cpu, kMesa), radeon = caps_of(DeviceType::discrete_gpu, kMesa);
  for (DeviceCaps* caps : {&lavapipe, &radeon}) caps->process = ProcessTraits{"", {}, 1, 2, 3};
  EXPECT_TRUE(device_traits(lavapipe).compiles_at_first_dispatch);
  EXPECT_FALSE(device_traits(kCpu).compiles_at_first_dispatch) << "SwiftShader";
  EXPECT_FALSE(device_traits(radeon).compiles_at_first_dispatch);
  EXPECT_EQ(process_traits(lavapipe)->driver_bytes, 1u);
  EXPECT_GT(process_traits(caps_of(DeviceType::cpu, kMesa))->driver_bytes, 1u) << "as usual";
  EXPECT_FALSE(process_traits(kCpu));
  EXPECT_FALSE(process_traits(radeon));
}

TEST(DeviceTraits, BroadcastsAreCheapOnLavapipeSinceMesa25) {
  DeviceCaps lavapipe = caps_of(DeviceType::cpu, kMesa);
  lavapipe.driver_version = 22u << 22 | 3u << 12;
  EXPECT_FALSE(device_traits(lavapipe).broadcasts_are_cheap);
  lavapipe.driver_version = 25u << 22;
  EXPECT_TRUE(device_traits(lavapipe).broadcasts_are_cheap);
  lavapipe.type = DeviceType::discrete_gpu;
  EXPECT_FALSE(device_traits(lavapipe).broadcasts_are_cheap);
}

TEST(DeviceTraits, TheCpuNeitherMergesLayersNorTilesDepthwiseConvolutions) {
  EXPECT_FALSE(depthwise_tile(kCpu, {56, 56, 16}));
  EXPECT_TRUE(depthwise_tile(kGpu, {56, 56, 16}));
  EXPECT_FALSE(computes_gates_last(kCpu, 1, 64));
  EXPECT_FALSE(device_traits(kCpu).cooperative_matrices);
  EXPECT_TRUE(device_traits(kGpu).cooperative_matrices);
  EXPECT_EQ(invocations_to_fill(kCpu), 0);
  EXPECT_GT(invocations_to_fill(kGpu), 0);
}

// Metal has no barrier for memory that other workgroups read.
TEST(DeviceTraits, AppleComputesNoGatesLast) {
  EXPECT_TRUE(computes_gates_last(kGpu, 64, 256));
  EXPECT_FALSE(computes_gates_last(caps_of(DeviceType::integrated_gpu, kApple), 64, 256));
}

// Adreno 660 runs more subgroups than it holds of kernels with half of the registers: these take all of them.
TEST(DeviceTraits, UnitsThatHoldFewSubgroupsFillTheirRegisters) {
  DeviceCaps adreno = caps_of(DeviceType::integrated_gpu, kQualcomm);
  const TileDemand window{56, 56, 16, int64_t{1} << 27, {3, 1, 1}};
  adreno.name = "Adreno (TM) 660";
  EXPECT_TRUE(holds_sums(adreno, {8, 2}, window));
  EXPECT_EQ(slices_ahead(adreno, {4, 2}, false, false), 3);
  adreno.name = "Adreno (TM) 740";
  EXPECT_FALSE(holds_sums(adreno, {8, 2}, window));
  EXPECT_EQ(slices_ahead(adreno, {4, 2}, false, false), 2);
  DeviceTraits traits = vendor_traits(adreno);
  traits.most_held_lanes = 0;
  adreno.name = "Adreno (TM) 660";
  adreno.traits = std::make_shared<const DeviceTraits>(traits);
  EXPECT_FALSE(holds_sums(adreno, {8, 2}, window));
}

TEST(DeviceTraits, RegistersHoldAsManyTexelsAsTheVendorsCompilerKeeps) {
  const auto ahead = [](uint32_t vendor, int64_t pixels) {
    return slices_ahead(caps_of(DeviceType::integrated_gpu, vendor), {pixels, 1}, false, false);
  };
  for (const auto& [vendor, one, two, four] :
       {std::array<int64_t, 4>{kAmd, 4, 2, 1}, {kNvidia, 4, 4, 2}, {kQualcomm, 4, 2, 2}, {0, 4, 2, 1}}) {
    EXPECT_EQ(ahead(static_cast<uint32_t>(vendor), 1), one) << vendor;
    EXPECT_EQ(ahead(static_cast<uint32_t>(vendor), 2), two) << vendor;
    EXPECT_EQ(ahead(static_cast<uint32_t>(vendor), 4), four) << vendor;
    EXPECT_EQ(ahead(static_cast<uint32_t>(vendor), 8), 1) << vendor;
  }
  const DeviceCaps amd = caps_of(DeviceType::discrete_gpu, kAmd),
                   intel = caps_of(DeviceType::discrete_gpu, kIntel);
  EXPECT_EQ(most_depthwise_sums(amd, 5), 8) << "weights are scalars";
  EXPECT_EQ(most_depthwise_sums(kGpu, 5), 4);
  EXPECT_EQ(most_depthwise_sums(intel, 3), 4);
}

TEST(DeviceTraits, StorageFollowsTheVendor) {
  const auto defaults = [](DeviceType type, uint32_t vendor) {
    DeviceCaps caps = caps_of(type, vendor);
    set_default_traits(caps);
    return caps;
  };
  const DeviceCaps swiftshader = defaults(DeviceType::cpu, kGoogle),
                   lavapipe = defaults(DeviceType::cpu, kMesa);
  EXPECT_EQ(swiftshader.memory.block_width, 2u);
  EXPECT_TRUE(!swiftshader.prefers_images && !swiftshader.reads_images_as_storage);
  EXPECT_TRUE(!swiftshader.reads_buffers_as_texels && device_traits(swiftshader).samples_texel_buffers);
  EXPECT_EQ(lavapipe.memory.buffer_alignment, 64u);
  EXPECT_TRUE(!lavapipe.prefers_images && lavapipe.reads_buffers_as_texels);
  EXPECT_FALSE(device_traits(lavapipe).samples_texel_buffers);
  for (const uint32_t vendor : {kQualcomm, kArm, kImagination})
    EXPECT_FALSE(defaults(DeviceType::integrated_gpu, vendor).reads_images_as_storage) << vendor;
  for (const uint32_t vendor : {kAmd, kIntel, kArm})
    EXPECT_FALSE(defaults(DeviceType::integrated_gpu, vendor).prefers_images) << vendor;
}

TEST(DeviceTraits, RatesAreThoseOfTheChipInTheName) {
  EXPECT_EQ(chip_rates("AMD Radeon Graphics (RADV NAVI31)")->units, 192u);
  EXPECT_EQ(chip_rates("Turnip Adreno (TM) 660")->units, 3u);
  EXPECT_FALSE(chip_rates("llvmpipe (LLVM 15.0.6, 256 bits)"));
}

}  // namespace
}  // namespace vellum::test

// Predicted times of dispatches, and what compilers are taken to make of tiles.
#include "cost/dispatch_time.hpp"

#include <gtest/gtest.h>

#include "caps/vendors.hpp"
#include "cost/device_rates.hpp"
#include "cost/tile_code.hpp"

namespace vellum::test {
namespace {

// Ten units of 32 lanes at 1 GHz.
constexpr DeviceRates kRates{.gigamacs_per_s = 320,
                             .gigabytes_per_s = 100,
                             .units = 10,
                             .lanes = 320,
                             .latency_ns = 100,
                             .launch_us = 1,
                             .barrier_us = 2};

TEST(DispatchTime, IsTheLongestOfThreeAfterLaunchAndBarrier) {
  DispatchFigures full{.macs = 32e6, .bytes = 1e6, .subgroups = 1000, .subgroup_size = 32, .resident = 10};
  const DispatchTime compute = dispatch_time(kRates, full);
  EXPECT_DOUBLE_EQ(compute.compute_us, 100);
  EXPECT_DOUBLE_EQ(compute.memory_us, 10);
  EXPECT_DOUBLE_EQ(compute.latency_us, 10 * 0.1)
      << "ten rounds of the hundred that are held, of one load each";
  EXPECT_DOUBLE_EQ(compute.total_us(1), 100 + 3);
  EXPECT_DOUBLE_EQ(compute.total_us(0.5), 200 + 3);
  full.bytes = 50e6;
  EXPECT_DOUBLE_EQ(dispatch_time(kRates, full).total_us(1), 500 + 3);
  full.steps = 1000;
  full.barrier = false;
  EXPECT_DOUBLE_EQ(dispatch_time(kRates, full).total_us(1), 10 * 100 + 100.0 / 10 + 1)
      << "ten subgroups of a unit take turns to compute";
}

// Loads of one workgroup after all others wait once, however many workgroups ran before it.
TEST(DispatchTime, TheLastWorkgroupWaitsAlone) {
  DispatchFigures full{.subgroups = 1000, .subgroup_size = 32, .steps = 2, .last_steps = 30, .resident = 10};
  EXPECT_DOUBLE_EQ(dispatch_time(kRates, full).latency_us, 10 * 2 * 0.1 + 30 * 0.1);
  full.subgroups = 0;
  EXPECT_DOUBLE_EQ(dispatch_time(kRates, full).latency_us, 2 * 0.1 + 30 * 0.1);
}

TEST(DispatchTime, UnitsWithoutASubgroupIdle) {
  const auto at = [](double subgroups) {
    return dispatch_time(kRates, {.macs = 32e6, .subgroups = subgroups, .subgroup_size = 32}).busy;
  };
  EXPECT_DOUBLE_EQ(at(1), 0.1);
  EXPECT_DOUBLE_EQ(at(10), 1);
  EXPECT_DOUBLE_EQ(at(11), 0.55) << "one unit has two of them";
  EXPECT_GT(at(1001), 0.98);
  // Subgroups of 8 in units of 32 lanes: each unit runs four.
  EXPECT_DOUBLE_EQ(dispatch_time(kRates, {.subgroups = 40, .subgroup_size = 8}).busy, 1);
}

TEST(DispatchTime, WhatIsUnknownTakesNoTime) {
  const DispatchTime time =
      dispatch_time({.gigamacs_per_s = 320}, {.macs = 32e6, .bytes = 1e6, .subgroups = 1});
  EXPECT_DOUBLE_EQ(time.total_us(1), 100);
}

TEST(DispatchTime, ChipsHaveTheLatenciesOfTheirVendor) {
  const DeviceRates radeon = device_rates(*chip_rates("AMD Radeon Graphics (RADV NAVI31)"));
  EXPECT_DOUBLE_EQ(radeon.gigamacs_per_s, 15360);
  EXPECT_EQ(radeon.lanes, 6144u);
  EXPECT_EQ(radeon.latency_ns, with_latencies({}, gpu_traits(kAmd)).latency_ns);
  EXPECT_GT(with_latencies({}, gpu_traits(kQualcomm)).barrier_us, radeon.barrier_us);
  EXPECT_EQ(with_latencies({.latency_ns = 7}, gpu_traits(kAmd)).latency_ns, 7);
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  const DeviceRates discrete = device_rates(caps);
  caps.type = DeviceType::integrated_gpu;
  EXPECT_GT(discrete.gigamacs_per_s, device_rates(caps).gigamacs_per_s);
}

// Efficiencies of conv_pointwise's loops in machine code of Mesa 25.0.7.
TEST(TileCode, IsCloseToTheMachineCode) {
  EXPECT_NEAR(tile_code(gpu_traits(kAmd), {1, 1}, true).efficiency, 0.89, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kAmd), {4, 2}, true).efficiency, 0.94, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kAmd), {4, 2}, true).resident, 20, 4);
  EXPECT_NEAR(tile_code(gpu_traits(kIntel), {4, 1}, true).efficiency, 0.69, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kNvidia), {4, 2}, false).efficiency, 0.64, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kArm), {4, 1}, false).efficiency, 0.5, 0.03)
      << "by its loads; 0.79 by its instructions";
  EXPECT_EQ(tile_code(gpu_traits(kAmd), {4, 2}, true).macs_per_step, 128);
}

// As Mesa compiles conv.comp with three taps side by side.
TEST(TileCode, FitsWindows) {
  const WindowRow taps{3, 1, 1};
  EXPECT_NEAR(tile_code(gpu_traits(kAmd), {1, 1}, true, taps).efficiency, 0.75, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kAmd), {1, 2}, true, taps).efficiency, 0.86, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kQualcomm), {4, 2}, false, taps).efficiency, 0.80, 0.03);
  EXPECT_NEAR(tile_code(gpu_traits(kQualcomm), {4, 1}, false, taps).efficiency, 0.70, 0.04);
  EXPECT_NEAR(tile_code(gpu_traits(kAmd), {1, 1}, true, {1, 2, 1}).efficiency, 0.73, 0.03);
  EXPECT_GT(tile_code(gpu_traits(kAmd), {1, 1}, true, {1, 2, 0}).efficiency,
            tile_code(gpu_traits(kAmd), {1, 1}, true, {1, 2, 1}).efficiency);
}

// As Mesa compiles conv_pointwise.comp and conv.comp with DOT_PRODUCTS. The model knows no bytes of images,
// which take instructions to be packed in words.
TEST(TileCode, DotProductsMultiplyFourBytesAtATime) {
  const auto efficiency = [](uint32_t vendor, const OutputTile& tile, bool uniform, const WindowRow& row) {
    return tile_code(gpu_traits(vendor), tile, uniform, row, true).efficiency;
  };
  EXPECT_NEAR(efficiency(kAmd, {1, 4}, true, {}), 3.76, 0.4);
  EXPECT_NEAR(efficiency(kAmd, {1, 2}, true, {3, 1, 1}), 3.0, 0.4);
  EXPECT_NEAR(efficiency(kAmd, {1, 4}, true, {3, 1, 1}), 3.43, 0.4);
  EXPECT_NEAR(efficiency(kQualcomm, {4, 2}, false, {}), 2.21, 0.5);
  EXPECT_NEAR(efficiency(kIntel, {4, 1}, false, {3, 1, 1}), 1.83, 0.5);
}

TEST(TileCode, LargerTilesMultiplyMoreForEachLoadInFewerSubgroups) {
  for (const uint32_t vendor : {kAmd, kIntel, kNvidia, kQualcomm, kArm, 0u})
    for (const bool uniform : {false, true}) {
      const TileCode small = tile_code(gpu_traits(vendor), {1, 1}, uniform),
                     large = tile_code(gpu_traits(vendor), {4, 2}, uniform);
      EXPECT_LT(small.efficiency, large.efficiency);
      EXPECT_GE(small.resident, large.resident);
      EXPECT_LE(tile_code(gpu_traits(vendor), {2, 2}, false).efficiency,
                tile_code(gpu_traits(vendor), {2, 2}, true).efficiency);
    }
}

}  // namespace
}  // namespace vellum::test

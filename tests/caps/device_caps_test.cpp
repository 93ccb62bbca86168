#include "caps/device_caps.hpp"

#include <gtest/gtest.h>

namespace vellum::test {
namespace {

// More of everything than the baseline.
DeviceCaps desktop() {
  DeviceCaps caps;
  caps.api_version = 1u << 22 | 3u << 12;
  caps.max_workgroup_invocations = 1024;
  caps.max_workgroup_size = {1024, 1024, 64};
  caps.min_storage_buffer_offset_alignment = 16;
  caps.fp16_arithmetic = caps.subgroup_arithmetic = caps.full_subgroups = true;
  caps.subgroup_size = 32;
  return caps;
}

TEST(DeviceCaps, KernelsForTheBaselineRunOnEveryDevice) {
  const DeviceCaps baseline = clamp_to_android_baseline_2022(desktop());
  EXPECT_TRUE(can_run_kernels_for(desktop(), DeviceCaps{}));
  EXPECT_TRUE(can_run_kernels_for(desktop(), baseline));
  EXPECT_TRUE(can_run_kernels_for(desktop(), desktop()));
  EXPECT_FALSE(can_run_kernels_for(baseline, desktop()));
}

TEST(DeviceCaps, KernelsForMoreThanADeviceHasDoNotRun) {
  const DeviceCaps device = desktop();
  const auto runs = [&](auto change) {
    DeviceCaps other = device;
    change(other);
    return can_run_kernels_for(device, other);
  };
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.max_workgroup_invocations = 1025; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.max_workgroup_size[2] = 65; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.max_storage_buffer_range += 1; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.min_storage_buffer_offset_alignment = 4; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.fp16_buffer_storage = true; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.subgroup_size = 64; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.declares_inf_nan_preserve = true; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.integer_dot_products = true; }));
  EXPECT_FALSE(runs([](DeviceCaps& other) { other.cooperative_matrices.emplace_back(); }));
  // The size of subgroups that no kernel uses, and traits, which say what is fast.
  EXPECT_TRUE(runs([](DeviceCaps& other) {
    other.subgroup_arithmetic = other.full_subgroups = false;
    other.subgroup_size = 64;
  }));
  EXPECT_TRUE(runs([](DeviceCaps& other) { other.prefers_images = !other.prefers_images; }));
}

// Metal's compiler assumes that there are no infinities.
TEST(DeviceCaps, PortabilityDriversRunKernelsThatDeclareTheirInfinities) {
  DeviceCaps metal = desktop();
  metal.portability_driver = metal.declares_inf_nan_preserve = true;
  EXPECT_TRUE(can_run_kernels_for(metal, metal));
  EXPECT_FALSE(can_run_kernels_for(metal, desktop()));
}

}  // namespace
}  // namespace vellum::test

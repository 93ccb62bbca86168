#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "caps/device_caps.hpp"
#include "caps/driver_quirks.hpp"
#include "cost/device_traits.hpp"
#include "vulkan/device_support.hpp"
#include "vulkan/device_uses.hpp"

namespace vellum {
namespace {

TEST(Caps, ClampingLowersWhatIsAboveTheBaselineAndNothingElse) {
  DeviceCaps caps;
  caps.name = "large";
  caps.api_version = 1u << 22 | 3u << 12;
  caps.max_image_dimension_2d = 16384;
  caps.max_storage_images_per_stage = 64;
  caps.max_workgroup_size = {1024, 1024, 32};
  caps.min_storage_buffer_offset_alignment = 16;
  caps.buffer_image_granularity = 1;
  caps.fp16_arithmetic = caps.fp16_buffer_storage = caps.subgroup_arithmetic = true;
  caps.subgroup_broadcast = caps.full_subgroups = true;
  caps.integer_dot_products = caps.accelerates_signed_dot_products = true;
  caps.accelerates_mixed_dot_products = true;
  caps.cooperative_matrices.emplace_back();
  const DeviceCaps clamped = clamp_to_android_baseline_2022(caps);
  EXPECT_EQ(clamped.name, "large");
  EXPECT_EQ(clamped.api_version, 1u << 22 | 1u << 12);
  EXPECT_EQ(clamped.max_image_dimension_2d, 4096u);
  EXPECT_EQ(clamped.max_storage_images_per_stage, 4u);
  EXPECT_EQ(clamped.max_workgroup_size, (std::array<uint32_t, 3>{128, 128, 32}));
  EXPECT_EQ(clamped.min_storage_buffer_offset_alignment, 256u);
  EXPECT_EQ(clamped.buffer_image_granularity, 4096u);
  EXPECT_FALSE(clamped.fp16_arithmetic || clamped.fp16_buffer_storage || clamped.subgroup_arithmetic);
  EXPECT_FALSE(clamped.subgroup_broadcast || clamped.full_subgroups);
  EXPECT_FALSE(clamped.integer_dot_products || clamped.accelerates_signed_dot_products ||
               clamped.accelerates_mixed_dot_products);
  EXPECT_TRUE(clamped.cooperative_matrices.empty());
}

TEST(Caps, ClampingToAProfileKeepsWhatBothHave) {
  DeviceCaps caps, profile;
  caps.fp16_arithmetic = caps.fp16_buffer_storage = true;
  profile.fp16_arithmetic = profile.subgroup_arithmetic = true;
  profile.rgba32f_images = false;
  profile.max_push_constant_bytes = 4096;
  const DeviceCaps clamped = clamp_to(caps, profile);
  EXPECT_TRUE(clamped.fp16_arithmetic);
  EXPECT_FALSE(clamped.fp16_buffer_storage || clamped.subgroup_arithmetic || clamped.rgba32f_images);
  EXPECT_EQ(clamped.max_push_constant_bytes, caps.max_push_constant_bytes);
}

TEST(Caps, CooperativeMatricesAreNotAskedForWhereThatEndsTheProcess) {
  DeviceCaps caps;
  caps.vendor_id = 0x1002;
  caps.type = DeviceType::integrated_gpu;
  caps.driver = "AMD proprietary driver 26.3.1 (AMD proprietary shader compiler)";
  EXPECT_TRUE(crashes_in_cooperative_query(caps));
  caps.type = DeviceType::discrete_gpu;
  EXPECT_FALSE(crashes_in_cooperative_query(caps));
  caps.type = DeviceType::integrated_gpu;
  caps.driver = "radv Mesa 25.0.7";
  EXPECT_FALSE(crashes_in_cooperative_query(caps));
}

TEST(Caps, QuirksSwitchOffWhatDriversGetWrong) {
  DeviceCaps adreno;
  adreno.vendor_id = 0x5143;
  adreno.fp16_arithmetic = true;
  apply_driver_quirks(adreno);
  EXPECT_FALSE(adreno.fp16_arithmetic) << "no 16-bit storage";

  DeviceCaps mali;
  mali.vendor_id = 0x13B5;
  mali.subgroup_arithmetic = mali.subgroup_broadcast = mali.full_subgroups = true;
  mali.subgroup_size = 0;
  apply_driver_quirks(mali);
  EXPECT_FALSE(mali.subgroup_arithmetic || mali.subgroup_broadcast || mali.full_subgroups);

  DeviceCaps good = adreno;
  good.fp16_arithmetic = good.fp16_buffer_storage = good.subgroup_arithmetic = true;
  good.subgroup_size = 64;
  apply_driver_quirks(good);
  EXPECT_TRUE(good.fp16_arithmetic && good.subgroup_arithmetic);
}

TEST(Caps, LavapipeOnArmHasNoImagesOfHalves) {
  DeviceCaps lavapipe;
  lavapipe.vendor_id = 0x10005;
  lavapipe.type = DeviceType::cpu;
  apply_driver_quirks(lavapipe);
  EXPECT_TRUE(lavapipe.rgba32f_images);
#if defined(__aarch64__)
  EXPECT_FALSE(lavapipe.rgba16f_images);
#else
  EXPECT_TRUE(lavapipe.rgba16f_images);
#endif
}

TEST(Caps, LavapipeAloneIsKnownToDivideExactly) {
  DeviceCaps lavapipe;
  lavapipe.vendor_id = 0x10005;
  lavapipe.type = DeviceType::cpu;
  DeviceCaps other;
  for (DeviceCaps* caps : {&lavapipe, &other}) apply_driver_quirks(*caps);
  EXPECT_TRUE(lavapipe.exact_division);
  EXPECT_FALSE(other.exact_division);
  other = lavapipe;
  other.exact_division = false;
  EXPECT_TRUE(can_run_kernels_for(lavapipe, other));
  EXPECT_FALSE(can_run_kernels_for(other, lavapipe));
}

// On a device without a quirk, converts_halves_correctly() finds the same.
TEST(Caps, SwiftShadersHalvesAreMadeOfIntegers) {
  DeviceCaps swiftshader;
  swiftshader.vendor_id = 0x1AE0;
  swiftshader.type = DeviceType::cpu;
  apply_driver_quirks(swiftshader);
  EXPECT_FALSE(swiftshader.packs_halves || swiftshader.rgba16f_images);
  DeviceCaps others;
  apply_driver_quirks(others);
  EXPECT_TRUE(others.packs_halves && others.rgba16f_images);
}

TEST(Caps, OldAdrenoDriversHaveNoImages) {
  DeviceCaps adreno;
  adreno.vendor_id = 0x5143;
  adreno.api_version = VK_MAKE_API_VERSION(0, 1, 1, 86);
  DeviceCaps newer = adreno;
  newer.api_version = VK_MAKE_API_VERSION(0, 1, 1, 87);
  apply_driver_quirks(adreno);
  EXPECT_FALSE(adreno.rgba32f_images || adreno.rgba16f_images);
  apply_driver_quirks(newer);
  EXPECT_TRUE(newer.rgba32f_images && newer.rgba16f_images);
}

TEST(Caps, QualcommsOwnDriverIsWaitedForInTurn) {
  DeviceCaps caps;
  EXPECT_FALSE(waits_in_turn(caps));
  caps.vendor_id = 0x5143;
  caps.driver = "Qualcomm Technologies Inc. Adreno Vulkan Driver";
  EXPECT_TRUE(waits_in_turn(caps));
  caps.driver = "turnip Mesa driver Mesa 25.0";
  EXPECT_FALSE(waits_in_turn(caps));
}

TEST(Caps, ApplesWorkgroupsWithBarriersHaveSixtyFourInvocations) {
  DeviceCaps caps;
  EXPECT_EQ(least_workgroup_with_barriers(caps), 1u);
  caps.portability_driver = true;
  EXPECT_EQ(least_workgroup_with_barriers(caps), 64u);
}

TEST(Caps, TimestampsOfLavapipeAreNotReadBesideSubmits) {
  DeviceCaps caps;
  caps.vendor_id = 0x10005;
  caps.type = DeviceType::discrete_gpu;
  EXPECT_FALSE(queries_race_with_submits(caps)) << "a GPU";
  caps.type = DeviceType::cpu;
  EXPECT_TRUE(queries_race_with_submits(caps));
}

TEST(Caps, NvidiasDriverStaysLoaded) {
  DeviceCaps caps;
  caps.vendor_id = 0x10DE;
  caps.driver = "NVIDIA 580.159.04";
  EXPECT_TRUE(must_stay_loaded(caps));
  caps.driver = "NVK Mesa 25.0";
  EXPECT_FALSE(must_stay_loaded(caps));
}

// Vulkan requires it of all shaders of a device whose memory model is enabled.
TEST(Caps, TheMemoryModelIsEnabledWithTheDevicesScope) {
  gpu::PhysicalDevice device;
  device.caps.cooperative_matrices.emplace_back();
  const auto enables = [&](const gpu::Feature& wanted) {
    return std::ranges::any_of(gpu::device_uses(device, device.caps), [&](const gpu::Use& use) {
      return std::ranges::any_of(use.features, [&](const gpu::Feature& feature) {
        return std::string_view(feature.name) == wanted.name;
      });
    });
  };
  EXPECT_TRUE(enables(gpu::kMemoryModel));
  EXPECT_TRUE(enables(gpu::kMemoryModelDeviceScope));
  EXPECT_FALSE(enables(gpu::kShaderInt8));
  device.caps.cooperative_matrices.push_back({.a = MatrixElement::s8, .b = MatrixElement::s8});
  EXPECT_TRUE(enables(gpu::kShaderInt8)) << "which shaders of these matrices use";
}

TEST(Caps, TraitsFollowTheVendor) {
  DeviceCaps caps;
  caps.vendor_id = 0x10005;  // Mesa's software drivers
  set_default_traits(caps);
  EXPECT_TRUE(caps.prefers_images && caps.reads_images_as_storage && !caps.reads_buffers_as_texels);
  caps.type = DeviceType::cpu;  // lavapipe
  set_default_traits(caps);
  EXPECT_TRUE(!caps.prefers_images && caps.reads_buffers_as_texels);
  caps.type = DeviceType::integrated_gpu;
  caps.vendor_id = 0x5143;
  set_default_traits(caps);
  EXPECT_TRUE(caps.prefers_images);
  EXPECT_FALSE(caps.reads_images_as_storage);
  EXPECT_FALSE(device_traits(caps).weights_in_buffers);
  caps.vendor_id = 0x13B5;
  set_default_traits(caps);
  EXPECT_FALSE(caps.prefers_images);
  caps.type = DeviceType::discrete_gpu;
  for (const uint32_t vendor : {0x1002u, 0x8086u}) {  // AMD, Intel
    caps.vendor_id = vendor;
    set_default_traits(caps);
    EXPECT_TRUE(!caps.prefers_images && caps.reads_images_as_storage) << vendor;
    EXPECT_TRUE(device_traits(caps).weights_in_buffers) << vendor;
    EXPECT_TRUE(device_traits(caps).uniform_loads_are_cheap) << vendor;
  }
  caps.vendor_id = 0x10DE;  // NVIDIA
  set_default_traits(caps);
  EXPECT_FALSE(caps.prefers_images);
  EXPECT_FALSE(device_traits(caps).uniform_loads_are_cheap);
}

}  // namespace
}  // namespace vellum

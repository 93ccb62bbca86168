#include "caps/device_caps.hpp"

#include <algorithm>
#include <functional>

namespace vellum {
namespace {

template <typename T>
void lower(T& value, T limit) {
  value = std::min(value, limit);
}

template <typename T>
void raise(T& value, T least) {
  value = std::max(value, least);
}

constexpr uint32_t kVulkan11 = 1u << 22 | 1u << 12;

// Limits that are higher on better devices,
constexpr uint32_t DeviceCaps::*kLimits[] = {
    &DeviceCaps::api_version,
    &DeviceCaps::max_image_dimension_2d,
    &DeviceCaps::max_image_dimension_3d,
    &DeviceCaps::max_image_array_layers,
    &DeviceCaps::max_storage_images_per_stage,
    &DeviceCaps::max_storage_buffers_per_stage,
    &DeviceCaps::max_sampled_images_per_stage,
    &DeviceCaps::max_push_constant_bytes,
    &DeviceCaps::max_workgroup_invocations,
    &DeviceCaps::max_shared_memory_bytes,
    &DeviceCaps::max_texel_buffer_elements,
    &DeviceCaps::max_loop_iterations,
    &DeviceCaps::max_allocation_count,
};
constexpr uint64_t DeviceCaps::*kLargeLimits[] = {&DeviceCaps::max_storage_buffer_range,
                                                  &DeviceCaps::max_allocation_bytes};
constexpr std::array<uint32_t, 3> DeviceCaps::*kGrids[] = {&DeviceCaps::max_workgroup_size,
                                                           &DeviceCaps::max_workgroup_count};
// what is less there,
constexpr uint64_t DeviceCaps::*kAlignments[] = {
    &DeviceCaps::min_storage_buffer_offset_alignment, &DeviceCaps::min_texel_buffer_offset_alignment,
    &DeviceCaps::non_coherent_atom_size, &DeviceCaps::buffer_image_granularity};
// and what kernels use if it is there.
constexpr bool DeviceCaps::*kFeatures[] = {
    &DeviceCaps::fp16_arithmetic,     &DeviceCaps::fp16_buffer_storage,
    &DeviceCaps::subgroup_arithmetic, &DeviceCaps::subgroup_broadcast,
    &DeviceCaps::full_subgroups,      &DeviceCaps::rgba32f_images,
    &DeviceCaps::rgba16f_images,      &DeviceCaps::declares_inf_nan_preserve,
    &DeviceCaps::exact_division,      &DeviceCaps::integer_dot_products};

}  // namespace

DeviceCaps clamp_to(const DeviceCaps& caps, const DeviceCaps& profile) {
  DeviceCaps clamped = caps;
  for (const auto limit : kLimits) lower(clamped.*limit, profile.*limit);
  for (const auto limit : kLargeLimits) lower(clamped.*limit, profile.*limit);
  for (const auto grid : kGrids)
    for (size_t i = 0; i < 3; ++i) lower((clamped.*grid)[i], (profile.*grid)[i]);
  for (const auto alignment : kAlignments) raise(clamped.*alignment, profile.*alignment);
  for (const auto feature : kFeatures) clamped.*feature = clamped.*feature && profile.*feature;
  for (const auto accelerates :
       {&DeviceCaps::accelerates_signed_dot_products, &DeviceCaps::accelerates_mixed_dot_products})
    clamped.*accelerates = clamped.*accelerates && clamped.integer_dot_products;
  clamped.memory_budget = clamped.memory_budget && profile.memory_budget;
  if (profile.cooperative_matrices.empty()) {
    clamped.cooperative_matrices.clear();
    clamped.cooperative_obstacle = profile.name + " has none";
  }
  return clamped;
}

bool can_run_kernels_for(const DeviceCaps& device, const DeviceCaps& other) {
  const auto grid_reaches = [&](const auto grid) {
    return std::ranges::equal(device.*grid, other.*grid, std::greater_equal());
  };
  // Kernels that use subgroups are compiled for one subgroup size.
  const bool uses_subgroups = other.subgroup_arithmetic || other.subgroup_broadcast || other.full_subgroups;
  return std::ranges::all_of(kLimits, [&](const auto limit) { return device.*limit >= other.*limit; }) &&
         std::ranges::all_of(kLargeLimits, [&](const auto limit) { return device.*limit >= other.*limit; }) &&
         std::ranges::all_of(kGrids, grid_reaches) &&
         std::ranges::all_of(kAlignments, [&](const auto each) { return device.*each <= other.*each; }) &&
         std::ranges::all_of(kFeatures, [&](const auto each) { return device.*each || !(other.*each); }) &&
         (!uses_subgroups || device.subgroup_size == other.subgroup_size) &&
         (!device.portability_driver || (other.portability_driver && other.declares_inf_nan_preserve)) &&
         other.cooperative_matrices.empty();
}

DeviceCaps clamp_to_android_baseline_2022(const DeviceCaps& caps) {
  DeviceCaps baseline;  // the defaults are the profile
  baseline.name = "the Android Baseline 2022 profile";
  baseline.api_version = kVulkan11;
  return clamp_to(caps, baseline);
}

}  // namespace vellum

#include "caps/device_caps.hpp"

#include <algorithm>

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

}  // namespace

DeviceCaps clamp_to(const DeviceCaps& caps, const DeviceCaps& profile) {
  DeviceCaps clamped = caps;
  lower(clamped.api_version, profile.api_version);
  lower(clamped.max_image_dimension_2d, profile.max_image_dimension_2d);
  lower(clamped.max_image_dimension_3d, profile.max_image_dimension_3d);
  lower(clamped.max_image_array_layers, profile.max_image_array_layers);
  lower(clamped.max_storage_images_per_stage, profile.max_storage_images_per_stage);
  lower(clamped.max_storage_buffers_per_stage, profile.max_storage_buffers_per_stage);
  lower(clamped.max_sampled_images_per_stage, profile.max_sampled_images_per_stage);
  lower(clamped.max_push_constant_bytes, profile.max_push_constant_bytes);
  lower(clamped.max_storage_buffer_range, profile.max_storage_buffer_range);
  lower(clamped.max_workgroup_invocations, profile.max_workgroup_invocations);
  for (size_t i = 0; i < 3; ++i) {
    lower(clamped.max_workgroup_size[i], profile.max_workgroup_size[i]);
    lower(clamped.max_workgroup_count[i], profile.max_workgroup_count[i]);
  }
  lower(clamped.max_shared_memory_bytes, profile.max_shared_memory_bytes);
  lower(clamped.max_texel_buffer_elements, profile.max_texel_buffer_elements);
  raise(clamped.min_storage_buffer_offset_alignment, profile.min_storage_buffer_offset_alignment);
  raise(clamped.min_texel_buffer_offset_alignment, profile.min_texel_buffer_offset_alignment);
  raise(clamped.non_coherent_atom_size, profile.non_coherent_atom_size);
  raise(clamped.buffer_image_granularity, profile.buffer_image_granularity);
  lower(clamped.max_allocation_bytes, profile.max_allocation_bytes);
  lower(clamped.max_allocation_count, profile.max_allocation_count);
  for (const auto feature :
       {&DeviceCaps::fp16_arithmetic, &DeviceCaps::fp16_buffer_storage, &DeviceCaps::subgroup_arithmetic,
        &DeviceCaps::subgroup_broadcast, &DeviceCaps::full_subgroups, &DeviceCaps::memory_budget,
        &DeviceCaps::rgba32f_images, &DeviceCaps::rgba16f_images})
    clamped.*feature = clamped.*feature && profile.*feature;
  if (profile.cooperative_matrices.empty()) {
    clamped.cooperative_matrices.clear();
    clamped.cooperative_obstacle = profile.name + " has none";
  }
  return clamped;
}

DeviceCaps clamp_to_android_baseline_2022(const DeviceCaps& caps) {
  DeviceCaps baseline;  // the defaults are the profile
  baseline.name = "the Android Baseline 2022 profile";
  baseline.api_version = kVulkan11;
  return clamp_to(caps, baseline);
}

}  // namespace vellum

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

DeviceCaps clamp_to_android_baseline_2022(const DeviceCaps& caps) {
  const DeviceCaps baseline;  // the defaults are the profile
  DeviceCaps clamped = caps;
  lower(clamped.api_version, kVulkan11);
  lower(clamped.max_image_dimension_2d, baseline.max_image_dimension_2d);
  lower(clamped.max_image_dimension_3d, baseline.max_image_dimension_3d);
  lower(clamped.max_image_array_layers, baseline.max_image_array_layers);
  lower(clamped.max_storage_images_per_stage, baseline.max_storage_images_per_stage);
  lower(clamped.max_storage_buffers_per_stage, baseline.max_storage_buffers_per_stage);
  lower(clamped.max_sampled_images_per_stage, baseline.max_sampled_images_per_stage);
  lower(clamped.max_push_constant_bytes, baseline.max_push_constant_bytes);
  lower(clamped.max_storage_buffer_range, baseline.max_storage_buffer_range);
  lower(clamped.max_workgroup_invocations, baseline.max_workgroup_invocations);
  for (size_t i = 0; i < 3; ++i) {
    lower(clamped.max_workgroup_size[i], baseline.max_workgroup_size[i]);
    lower(clamped.max_workgroup_count[i], baseline.max_workgroup_count[i]);
  }
  lower(clamped.max_shared_memory_bytes, baseline.max_shared_memory_bytes);
  lower(clamped.max_texel_buffer_elements, baseline.max_texel_buffer_elements);
  raise(clamped.min_storage_buffer_offset_alignment, baseline.min_storage_buffer_offset_alignment);
  raise(clamped.min_texel_buffer_offset_alignment, baseline.min_texel_buffer_offset_alignment);
  raise(clamped.non_coherent_atom_size, baseline.non_coherent_atom_size);
  raise(clamped.buffer_image_granularity, baseline.buffer_image_granularity);
  lower(clamped.max_allocation_bytes, baseline.max_allocation_bytes);
  lower(clamped.max_allocation_count, baseline.max_allocation_count);
  clamped.fp16_arithmetic = false;
  clamped.fp16_buffer_storage = false;
  clamped.subgroup_arithmetic = clamped.subgroup_broadcast = clamped.full_subgroups = false;
  clamped.cooperative_matrices.clear();
  clamped.cooperative_obstacle = "the Android Baseline 2022 profile has none";
  clamped.memory_budget = false;
  return clamped;
}

}  // namespace vellum

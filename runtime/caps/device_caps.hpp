// Device caps: everything that kernels, planning and estimates know of a device, as plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caps/cooperative_matrix.hpp"

namespace vellum {

enum class DeviceType : uint8_t { other, integrated_gpu, discrete_gpu, virtual_gpu, cpu };

// A model of the memory of images and buffers, for planning without the device; a session queries the device.
// An image consists of blocks of texels; its rows and its total are rounded up. The defaults are those of
// common phones (the Android profiles guarantee nothing here).
struct MemoryTraits {
  uint32_t block_width = 4, block_height = 4;  // texels
  uint64_t row_alignment = 64;                 // bytes
  uint64_t image_alignment = 4096;             // bytes, of offset and size
  uint64_t buffer_alignment = 256;             // bytes, of offsets
};

// The memory of the process that a driver on the CPU takes besides allocations. No driver reports it: the
// figures are fitted to measurements (tests/bench/estimate_table.py). estimate/shader_size.hpp counts the
// operations of shaders.
struct ProcessTraits {
  // The calibration is valid for one CPU and one range of programs: the processor that the figures were
  // measured on, as platform::host_cpu() describes it, and the least and the most shader operations of the
  // networks that they were fitted to. Empty and 0: unknown. For any other CPU or program estimates are
  // intervals (estimate/driver_fit.hpp).
  std::string host;
  std::array<uint64_t, 2> fitted_operations{};
  uint64_t driver_bytes = 0;         // once: loader, driver, shader compilers
  uint32_t bytes_per_operation = 0;  // of all pipelines: machine code, and memory that the compiler keeps
  // Additional memory while the largest pipeline is compiled; memory freed after one pipeline serves the
  // next.
  uint32_t bytes_per_operation_of_largest = 0;
};

struct DeviceTraits;  // cost/device_traits.hpp

inline constexpr uint32_t kNoLoopLimit = UINT32_MAX;

struct DeviceCaps {
  // Identity.
  std::string name;
  std::string driver;  // name and version as the driver reports them
  DeviceType type = DeviceType::other;
  uint32_t vendor_id = 0, device_id = 0, driver_version = 0, api_version = 0;
  std::array<uint8_t, 16> pipeline_cache_uuid{};

  // Limits (Vulkan's names and units). The defaults are the minimum of the Android Baseline 2022 profile, so
  // a default-constructed DeviceCaps is that profile.
  uint32_t max_image_dimension_2d = 4096;
  uint32_t max_image_dimension_3d = 512;
  uint32_t max_image_array_layers = 256;
  uint32_t max_storage_images_per_stage = 4;
  uint32_t max_storage_buffers_per_stage = 4;
  uint32_t max_sampled_images_per_stage = 16;
  uint32_t max_push_constant_bytes = 128;
  uint64_t max_storage_buffer_range = uint64_t{128} << 20;
  uint32_t max_workgroup_invocations = 128;
  std::array<uint32_t, 3> max_workgroup_size{128, 128, 64};
  std::array<uint32_t, 3> max_workgroup_count{65535, 65535, 65535};
  uint32_t max_shared_memory_bytes = 16384;
  uint32_t max_texel_buffer_elements = 65536;
  // The iterations after which the driver ends all loops of an invocation together, without an error: 65,535
  // on lavapipe (its limit of iterations in gallivm). kNoLoopLimit: none is known.
  uint32_t max_loop_iterations = 65535;
  uint64_t min_storage_buffer_offset_alignment = 256;
  uint64_t min_texel_buffer_offset_alignment = 256;
  uint64_t non_coherent_atom_size = 256;
  uint64_t buffer_image_granularity = 4096;
  uint64_t max_allocation_bytes = uint64_t{1} << 30;
  uint32_t max_allocation_count = 4096;

  // Optional features.
  bool fp16_arithmetic = false;
  bool fp16_buffer_storage = false;  // 16-bit elements in storage buffers
  bool subgroup_arithmetic = false;
  bool subgroup_broadcast = false;  // subgroupBroadcast() in compute shaders
  uint32_t subgroup_size = 0;       // 0: unknown
  // Quotients of floats in shaders are the nearest floats. Vulkan allows an error of 2.5 units in the last
  // place, and has no property for it (caps/driver_quirks.cpp).
  bool exact_division = false;
  // Dot products of four bytes with four bytes, packed in words of 32 bits, into 32-bit integers
  // (VK_KHR_shader_integer_dot_product), and for which of them the device has instructions: of signed bytes
  // with signed ones, and with unsigned ones.
  bool integer_dot_products = false;
  bool accelerates_signed_dot_products = false, accelerates_mixed_dot_products = false;
  // Pipelines can require that every subgroup has exactly subgroup_size invocations
  // (VK_EXT_subgroup_size_control).
  bool full_subgroups = false;
  // The cooperative matrices of the device that this build of Vellum can use, all of one extension. If there
  // are none, cooperative_obstacle is the reason.
  std::vector<CooperativeMatrix> cooperative_matrices;
  std::string cooperative_obstacle;
  bool unified_memory = false;    // device-local memory is host-visible
  float timestamp_period_ns = 0;  // 0: no timestamps
  bool memory_budget = false;
  bool rgba32f_images = true;  // storage and sampled images of this format, 2D and 3D; Vulkan guarantees both
  bool rgba16f_images = true;
  // The device supports SignedZeroInfNanPreserve for 32-bit floats. Shaders that test for NaN or compute with
  // infinities declare it; otherwise the driver's compiler may assume that there are neither.
  bool declares_inf_nan_preserve = false;
  // packHalf2x16() rounds to the nearest half and keeps infinities. Vulkan guarantees neither
  // (shaders/common/halves.glsl).
  bool packs_halves = true;
  // The driver translates to another API and implements only the portability subset (MoltenVK, to Metal).
  // Metal's compiler assumes that there are no infinities, and Metal before version 3.2 has no memory barrier
  // between workgroups.
  bool portability_driver = false;

  // Traits: the fastest way to use the device. Measured where a measurement exists, else by vendor.
  bool prefers_images = true;            // `storage auto` means images
  bool reads_images_as_storage = true;   // imageLoad is faster than texelFetch through a sampled image
  bool reads_buffers_as_texels = false;  // a texel buffer load is faster than a storage buffer load
  MemoryTraits memory;
  std::optional<ProcessTraits> process;  // nothing: unknown
  // The traits that a caps file overrides, which Vulkan does not report; null: the vendor's traits. Read them
  // with device_traits().
  std::shared_ptr<const DeviceTraits> traits;

  // Returns the alignment that a tensor's offset in a buffer needs for storage and texel buffer access.
  uint64_t tensor_offset_alignment() const {
    return std::max(min_storage_buffer_offset_alignment, min_texel_buffer_offset_alignment);
  }
};

// Lowers the limits of `caps` to those of `profile` and disables features that the profile lacks. Identity
// and traits stay.
DeviceCaps clamp_to(const DeviceCaps& caps, const DeviceCaps& profile);

// Returns whether kernels that were chosen for `other` run on `device`, because it has at least the limits
// and features of `other`. False if `other` has cooperative matrices.
bool can_run_kernels_for(const DeviceCaps& device, const DeviceCaps& other);

// Clamps to the Android Baseline 2022 profile.
DeviceCaps clamp_to_android_baseline_2022(const DeviceCaps& caps);

}  // namespace vellum

// Detects which products of cooperative matrices (caps/cooperative_matrix.hpp) a device supports and Vellum
// can use.
#pragma once

#include "caps/device_caps.hpp"
#include "vulkan/device_support.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

class CrashMarks;

// Older Vulkan headers lack this name.
inline constexpr const char* kCooperativeMatrixKhrName = "VK_KHR_cooperative_matrix";

// Sets caps.cooperative_matrices or, if there are none, sets caps.cooperative_obstacle to the reason. All
// other caps must be set already. marks: if not null, a crash mark is set during the query.
void fill_cooperative_matrices(DeviceCaps& caps, const vk::raii::PhysicalDevice& device,
                               const DeviceSupport& support, CrashMarks* marks = nullptr);

}  // namespace vellum::gpu

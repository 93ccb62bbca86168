// Detects the products of cooperative matrices (caps/cooperative_matrix.hpp) of a device that Vellum can use.
#pragma once

#include "caps/device_caps.hpp"
#include "vulkan/device_support.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

class CrashMarks;

// Older Vulkan headers lack this name.
inline constexpr const char* kCooperativeMatrixKhrName = "VK_KHR_cooperative_matrix";

// Sets caps.cooperative_matrices, or if there are none caps.cooperative_obstacle to the reason. All other
// caps must be set already. marks: null, or marks the query.
void fill_cooperative_matrices(DeviceCaps& caps, const vk::raii::PhysicalDevice& device,
                               const DeviceSupport& support, CrashMarks* marks = nullptr);

}  // namespace vellum::gpu

// PCI vendor numbers; Vulkan reports the same for vendors without PCI devices (Vulkan spec,
// VkPhysicalDeviceProperties).
#pragma once

#include <cstdint>

namespace vellum {

inline constexpr uint32_t kAmd = 0x1002;
inline constexpr uint32_t kIntel = 0x8086;
inline constexpr uint32_t kNvidia = 0x10DE;
inline constexpr uint32_t kArm = 0x13B5;
inline constexpr uint32_t kImagination = 0x1010;
inline constexpr uint32_t kQualcomm = 0x5143;
inline constexpr uint32_t kApple = 0x106B;
inline constexpr uint32_t kGoogle = 0x1AE0;  // SwiftShader
inline constexpr uint32_t kMesa = 0x10005;   // lavapipe

}  // namespace vellum

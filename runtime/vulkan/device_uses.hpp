// Extensions and features that Vellum uses beyond Vulkan 1.1: one list for devices that it opens itself, for
// Device::requirements() and for adopted devices.
#pragma once

#include <vector>

#include "vulkan/device_support.hpp"
#include "vulkan/physical_device.hpp"

namespace vellum::gpu {

// The extensions and features that Vellum uses for one purpose.
struct Use {
  const char* purpose;
  bool required = false;
  std::vector<const char*> extensions = {};
  std::vector<Feature> features = {};
};

// `caps`: the device's caps, possibly reduced by ContextOptions::adjust_caps.
std::vector<Use> device_uses(const PhysicalDevice& device, const DeviceCaps& caps);

}  // namespace vellum::gpu

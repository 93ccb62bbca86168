// Capabilities of a large GPU, by which compile() joins layers.
#pragma once

#include <cstdint>

#include "caps/device_caps.hpp"

namespace vellum::test {

inline DeviceCaps large_gpu(uint32_t storage_buffers) {
  DeviceCaps caps;
  caps.type = DeviceType::discrete_gpu;
  caps.name = "NAVI31";
  caps.max_shared_memory_bytes = 64 << 10;
  caps.max_storage_buffers_per_stage = storage_buffers;
  return caps;
}

}  // namespace vellum::test

// Identifiers of a device that are the same in all APIs and processes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "vellum/export.h"

namespace vellum {

// VkPhysicalDeviceIDProperties::deviceUUID and deviceLUID.
using DeviceUuid = std::array<uint8_t, 16>;
using DeviceLuid = std::array<uint8_t, 8>;

// Returns the usual text of a UUID: "6d657361-3232-2e33-2e36-000000000000".
VELLUM_API std::string uuid_text(const DeviceUuid& uuid);

}  // namespace vellum

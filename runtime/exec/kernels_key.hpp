// Identifies a device together with the kernels that run on it. Files with measurements or results of
// self-checks (tuning tables, kernel verdicts) contain this key.
#pragma once

#include <string>

#include "caps/device_caps.hpp"

namespace vellum {

// Returns a digest of the device's capabilities, its driver, the version of Vellum and all shaders: 32
// hexadecimal digits. Results with another key do not apply to this device.
std::string kernels_key(const DeviceCaps& caps);

}  // namespace vellum

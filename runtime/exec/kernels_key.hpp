// Identifies a device together with the kernels that run on it, in the files that remember what was found out
// about them: tuning tables and results of self-checks.
#pragma once

#include <string>

#include "caps/device_caps.hpp"

namespace vellum {

// Returns a digest of the device's capabilities, its driver, the version of Vellum and all shaders: 32
// hexadecimal digits. What was found out under another key says nothing about this device.
std::string kernels_key(const DeviceCaps& caps);

}  // namespace vellum

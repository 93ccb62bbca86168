// DeviceCaps as a JSON document, so that a device's plans can be made on a machine that has no such device.
#pragma once

#include <string>
#include <string_view>

#include "caps/device_caps.hpp"

namespace vellum {

// {"vellum_caps": version, one member for each field of DeviceCaps under its own name, "traits": {those of
// visit_traits() (cost/device_traits.hpp) that differ from the vendor's}}
std::string to_json(const DeviceCaps& caps);

// Parses a caps file. `source` is its name in messages. Throws Error(invalid_argument) that names the member
// which is missing, unknown, of another type or out of range: an incomplete device must not pass as a
// complete one.
DeviceCaps caps_from_json(std::string_view text, const std::string& source);

}  // namespace vellum

// DeviceCaps as a JSON document, so that a device's plans can be made on a machine that has no such device.
#pragma once

#include <string>
#include <string_view>

#include "caps/device_caps.hpp"

namespace vellum {

// Returns an object: {"vellum_caps": version, one member for each field of DeviceCaps under its own name,
// "traits": {the traits of visit_traits() (cost/device_traits.hpp) that differ from the vendor's}}.
std::string to_json(const DeviceCaps& caps);

// Parses a caps file. `source` is its name in messages. Throws Error(invalid_argument) for a member that is
// missing, unknown, of another type or out of range, and names it.
DeviceCaps caps_from_json(std::string_view text, const std::string& source);

}  // namespace vellum

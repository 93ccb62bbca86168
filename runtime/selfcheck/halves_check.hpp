// Checks that a device rounds to halves as Vellum's host does. Drivers are known that cut off the bits, or
// make NaN of infinities (docs/drivers.md, rows 33 and 57).
#pragma once

#include <memory>

#include "vulkan/context.hpp"

namespace vellum {

// Stores numbers as halves, ties, infinities and numbers of small magnitude among them, and reads them.
// Returns true if all are what they should be, and where that cannot be tried, too. Throws Error(device_lost)
// if the device is lost.
bool packs_halves_rightly(const std::shared_ptr<gpu::Context>& context);

}  // namespace vellum

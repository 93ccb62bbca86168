// Checks that a device rounds to halves as Vellum's host does. Some drivers truncate, or convert infinities
// to NaN (docs/drivers.md, rows 33 and 57).
#pragma once

#include <memory>

#include "vulkan/context.hpp"

namespace vellum {

// Stores numbers as halves, including ties, infinities and numbers of small magnitude, and reads them back.
// Returns true if all are correct, and also if the check cannot run. Throws Error(device_lost) if the device
// is lost.
bool converts_halves_correctly(const std::shared_ptr<gpu::Context>& context);

}  // namespace vellum

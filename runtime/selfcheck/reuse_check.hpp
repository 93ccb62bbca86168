// Checks that a device computes the same where intermediate tensors share memory. Drivers are known that do
// not (docs/drivers.md, row 2).
#pragma once

#include <memory>

#include "vulkan/context.hpp"

namespace vellum {

// Runs a chain of 24 convolutions, in buffers and in images, once with memory of its own for each tensor and
// several times with each form of sharing, and compares the bits. Returns true if they are equal, and where
// the chain cannot be computed or gives other bits without sharing, too. Throws Error(device_lost) if the
// device is lost.
bool computes_the_same_in_shared_memory(const std::shared_ptr<gpu::Context>& context);

}  // namespace vellum

// Checks that a device computes the same results when intermediate tensors share memory. Some drivers do not
// (docs/drivers.md, row 2).
#pragma once

#include <memory>

#include "vulkan/context.hpp"

namespace vellum {

// Runs a chain of 24 convolutions, in buffers and in images: once with separate memory for each tensor, and
// several times with each form of sharing. Compares the bits. Returns true if they are equal, and also if the
// chain cannot be computed or its bits vary without sharing. Throws Error(device_lost) if the device is lost.
bool computes_the_same_in_shared_memory(const std::shared_ptr<gpu::Context>& context);

}  // namespace vellum

// Decides which dispatches are recorded as vkCmdCopyBuffer.
#pragma once

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// Returns whether the dispatch is recorded as vkCmdCopyBuffer: it only copies bytes between intermediate
// tensors, and the device prefers the command (DeviceTraits::copies_buffers_by_command). Inputs and outputs
// are excluded, because buffers of the application need not have transfer usage.
bool is_copied_by_command(const Program& program, const Dispatch& dispatch, const DeviceCaps& caps);

}  // namespace vellum

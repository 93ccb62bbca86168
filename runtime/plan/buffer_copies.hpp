// Which dispatches a command of the driver replaces: vkCmdCopyBuffer.
#pragma once

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// Whether the dispatch is recorded as a copy between buffers: it only copies bytes between intermediate
// tensors, and the device prefers the command (DevicePolicy::copies_buffers_by_command()). Inputs and outputs
// may be in buffers of the application's, which need not allow transfers.
bool is_copied_by_command(const Program& program, const Dispatch& dispatch, const DeviceCaps& caps);

}  // namespace vellum

// Checks that a device rounds to halves as Vellum's host does. Some drivers truncate, or convert infinities
// to NaN (docs/drivers.md, rows 33 and 57).
#pragma once

#include <memory>
#include <optional>

#include "caps/device_caps.hpp"
#include "program/program.hpp"
#include "selfcheck/small_run.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Stores numbers as halves, including ties, infinities and numbers of small magnitude, and reads them back.
// Returns true if all are correct, and also if the check cannot run; nothing if there are no shaders for it.
// Throws Error(device_lost) if the device is lost.
//
// caps: the caps that the program is compiled for; the device has all of them.
std::optional<bool> converts_halves_correctly(const std::shared_ptr<gpu::Context>& context,
                                              const DeviceCaps& caps, const HasShaders& has_shaders = {});

// The program of this check.
Program halves_check_program(const DeviceCaps& caps);

}  // namespace vellum

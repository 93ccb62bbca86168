// Checks that a device computes the same results when intermediate tensors share memory. Some drivers do not
// (docs/drivers.md, row 2).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "caps/device_caps.hpp"
#include "program/program.hpp"
#include "selfcheck/small_run.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Runs a chain of 24 convolutions, in buffers and in images: once with separate memory for each tensor, and
// several times with each form of sharing. Compares the bits. Returns true if they are equal, and also if the
// chain cannot be computed or its bits vary without sharing; nothing if there are no shaders for it. Throws
// Error(device_lost) if the device is lost.
//
// caps: the caps that the chain is compiled for; the device has all of them.
std::optional<bool> memory_reuse_is_safe(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                         const HasShaders& has_shaders = {});

// The programs of this check, in buffers and, if `images`, in images.
std::vector<Program> reuse_check_programs(const DeviceCaps& caps, bool images);

}  // namespace vellum

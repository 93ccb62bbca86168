// Rewrites shaders so that workgroups and invocations run in another order.
#pragma once

#include <cstdint>

#include "worst_device/spirv_module.hpp"

namespace vellum::test {

enum class WorkgroupOrder : uint8_t { as_numbered, reversed, mixed };

// A driver for CPUs runs workgroups and invocations in the order of their numbers. The shader numbers them
// anew, so that they run in another order of the new numbers. Invocations of shaders with subgroups keep
// their order. The dispatch must not have a base (vkCmdDispatchBase).
void change_order(SpirvModule& module, WorkgroupOrder workgroups, bool reverse_invocations);

}  // namespace vellum::test

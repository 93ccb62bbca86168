// Subgroups of any size on any driver.
#pragma once

#include <cstdint>

#include "worst_device/spirv_builder.hpp"

namespace vellum::test {

// Makes subgroups of `size` invocations from successive invocations of the workgroup, whose number it must
// divide: subgroup functions use shared memory and barriers, up to 16 bytes for each invocation. Throws
// std::runtime_error for functions that no shader of Vellum has. The invocations of a subgroup must call them
// together.
void emulate_subgroups(SpirvModule& module, uint32_t size);

}  // namespace vellum::test

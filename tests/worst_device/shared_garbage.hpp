// Shared memory with arbitrary contents at the beginning of each workgroup.
#pragma once

#include "worst_device/spirv_module.hpp"

namespace vellum::test {

// Fills shared variables of numbers and vectors, and arrays of these, with NaN or large integers.
void fill_shared_memory(SpirvModule& module);

}  // namespace vellum::test

// Adds instructions before and after all others of a shader.
#pragma once

#include <vector>

#include "worst_device/spirv_builder.hpp"

namespace vellum::test {

// Makes a new entry point that runs `before`, calls the old one, and runs `after`. Both are parts of one
// function and may have blocks of their own.
void wrap_entry_point(SpirvModule& module, std::vector<Instruction> before, std::vector<Instruction> after);

}  // namespace vellum::test

// Formats the memory of a session's intermediate tensors as a table.
#pragma once

#include <string>

#include "vellum/profile.hpp"

namespace vellum::samples {

// Returns one line for each shared object (kind, extent, format, size, the number of tensors that it carries
// in one inference), then the totals: naive, planned, lower bound, and allocated from Vulkan.
std::string reuse_table(const MemoryReport& report);

}  // namespace vellum::samples

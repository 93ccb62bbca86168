// The memory of a session's intermediate tensors as a table for people.
#pragma once

#include <string>

#include "vellum/profile.hpp"

namespace vellum::samples {

// One line for each shared object: kind, extent, format, size, how many tensors it carries in one inference;
// then the totals: a tensor each in an object of its own (naive), the plan, its lower bound, what Vulkan
// really allocated.
std::string reuse_table(const MemoryReport& report);

}  // namespace vellum::samples

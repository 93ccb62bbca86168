// How much memory this process holds.
#pragma once

#include <cstdint>
#include <optional>

namespace vellum::platform {

struct ProcessMemory {
  uint64_t resident = 0;  // bytes in physical memory, code and mapped files included
  uint64_t peak = 0;      // the most so far, or since restart_peak()
};

// Nothing where the system does not tell.
std::optional<ProcessMemory> process_memory();

// The peak begins anew at what is resident now. False where the system keeps one peak for the whole process.
bool restart_peak();

}  // namespace vellum::platform

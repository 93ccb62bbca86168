// The memory that this process holds.
#pragma once

#include <cstdint>
#include <optional>

namespace vellum::platform {

struct ProcessMemory {
  uint64_t resident = 0;  // bytes in physical memory, code and mapped files included
  uint64_t peak = 0;      // peak of resident memory since the process began, or since reset_peak()
};

// Returns the process's memory. Returns nothing if the system does not report it.
std::optional<ProcessMemory> process_memory();

// Resets the peak to the memory that is resident now. Returns false if the system cannot reset the peak.
bool reset_peak();

}  // namespace vellum::platform

// The bytes of memory that hold live tensors during each task.
#pragma once

#include <cstdint>
#include <vector>

#include "vellum/profile.hpp"

namespace vellum {

// Returns the live bytes during each of `task_count` tasks. Memory that several tensors share (one that
// another aliases in place) counts once, so the peak is at most MemoryReport::planned_bytes. In mode
// `offsets` the padding of objects counts, and the peak is MemoryReport::lower_bound_bytes. Throws the errors
// of check_tensors(), and Error(invalid_argument) for a tensor that is live after the last task.
std::vector<uint64_t> live_bytes(const MemoryReport& memory, size_t task_count);

}  // namespace vellum

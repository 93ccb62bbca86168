#include "vulkan/memory_ledger.hpp"

#include <algorithm>

namespace vellum::gpu {

std::string_view name(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::weights:
      return "weights";
    case MemoryCategory::in_out:
      return "inputs and outputs";
    case MemoryCategory::intermediates:
      return "intermediate tensors";
    case MemoryCategory::workspace:
      return "workspace";
    case MemoryCategory::staging:
      return "staging";
    case MemoryCategory::state:
      return "state";
    case MemoryCategory::other:
      break;
  }
  return "other";
}

void MemoryLedger::book(MemoryUse& use, uint64_t bytes) {
  use.bytes += bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.bytes);
  ++use.allocations;
  ++use.allocations_made;
}

void MemoryLedger::release(MemoryCategory category, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (MemoryUse* use : {&statistics_.by_category[static_cast<size_t>(category)], &statistics_.total}) {
    use->bytes -= bytes;
    --use->allocations;
  }
}

MemoryStatistics MemoryLedger::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void MemoryLedger::reset_peaks() {
  const std::lock_guard lock(mutex_);
  for (MemoryUse& use : statistics_.by_category) use.peak_bytes = use.bytes;
  statistics_.total.peak_bytes = statistics_.total.bytes;
}

}  // namespace vellum::gpu

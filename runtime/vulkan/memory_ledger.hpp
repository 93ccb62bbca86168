// Counts allocated bytes by category.
#pragma once

#include <mutex>

#include "vulkan/memory_statistics.hpp"

namespace vellum::gpu {

class MemoryLedger {
 public:
  // Calls `allocate` with the current number of allocations, and counts the bytes unless it throws. Only one
  // call runs at a time, so the number stays valid while `allocate` checks the device's limit.
  template <typename Allocate>
  auto allocate(MemoryCategory category, uint64_t bytes, Allocate&& allocate) {
    const std::lock_guard lock(mutex_);
    auto memory = allocate(statistics_.total.allocations);
    book(statistics_.by_category[static_cast<size_t>(category)], bytes);
    book(statistics_.total, bytes);
    return memory;
  }

  void release(MemoryCategory category, uint64_t bytes);
  MemoryStatistics statistics() const;
  void reset_peaks();

 private:
  static void book(MemoryUse& use, uint64_t bytes);

  mutable std::mutex mutex_;
  MemoryStatistics statistics_;
};

}  // namespace vellum::gpu

// Counts what is allocated, per category.
#pragma once

#include <mutex>

#include "vulkan/memory_statistics.hpp"

namespace vellum::gpu {

class MemoryLedger {
 public:
  // Runs `allocate` alone, so that the count it is given holds while it checks the device's limit, and books
  // the bytes if it does not throw.
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

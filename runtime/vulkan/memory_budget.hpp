// A limit on the bytes that one session has allocated from Vulkan at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "vulkan/memory_statistics.hpp"

namespace vellum::gpu {

// Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t limit) : limit_(limit) {}

  uint64_t limit() const { return limit_; }
  uint64_t used() const;
  uint64_t peak() const;

  // Counts bytes before they are allocated. Throws Error(out_of_memory), and counts nothing, if the limit
  // would be exceeded. `what`: the purpose of the bytes, for the message.
  void take(uint64_t bytes, const std::string& what);
  void give_back(uint64_t bytes) noexcept;

 private:
  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0, peak_ = 0;
};

// The purpose of an allocation, and the budget that it counts against, or null.
struct MemoryPurpose {
  // Implicit, because most memory has no budget.
  MemoryPurpose(MemoryCategory use, std::shared_ptr<MemoryBudget> counted_by = nullptr)
      : category(use), budget(std::move(counted_by)) {}

  MemoryCategory category;
  std::shared_ptr<MemoryBudget> budget;
};

}  // namespace vellum::gpu

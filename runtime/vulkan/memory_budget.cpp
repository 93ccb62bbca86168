#include "vulkan/memory_budget.hpp"

#include <algorithm>

#include "vellum/error.hpp"

namespace vellum::gpu {

uint64_t MemoryBudget::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

uint64_t MemoryBudget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void MemoryBudget::take(uint64_t bytes, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - used_)
    throw Error(ErrorCode::out_of_memory, what + ": the session's memory budget of " +
                                              std::to_string(limit_) + " bytes has " +
                                              std::to_string(limit_ - used_) + " left");
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

void MemoryBudget::give_back(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

}  // namespace vellum::gpu

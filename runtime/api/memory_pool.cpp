#include "vellum/memory_pool.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "exec/arena_pool.hpp"

namespace vellum {

MemoryPool::MemoryPool(const Device& device, const MemoryPoolOptions& options)
    : pool_(guard([&] {
        check_choice(options.overlap, PoolOverlap::refuse, "MemoryPoolOptions::overlap");
        return std::make_shared<ArenaPool>(impl(device)->context, options.overlap);
      })) {}

uint64_t MemoryPool::bytes() const {
  return guard([&] { return pool_ ? pool_->bytes() : 0; });
}

void MemoryPool::trim() const {
  guard([&] {
    if (pool_) pool_->trim(pool_->turn());
  });
}

}  // namespace vellum

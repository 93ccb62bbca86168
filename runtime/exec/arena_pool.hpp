// Device memory that several executors share for their intermediate tensors: as much as the most demanding
// executor needs.
//
// Between runs all intermediate tensors of an executor are dead, so that another executor may reuse the
// memory. Nothing more is needed for executors whose runs follow one another on the host. A shared pool
// serves executors of different sessions. On the device, the commands of each run wait for earlier work of
// the queue. On the host, a run is submitted completely before another run begins (Turn).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/arenas.hpp"
#include "vellum/memory_pool.hpp"
#include "vulkan/memory.hpp"

namespace vellum {

class ArenaPool {
 public:
  // A lock on the pool. Only the thread that holds it may begin a run, or create and free objects in the
  // pool's memory.
  using Turn = std::unique_lock<std::mutex>;

  // An executor with objects in the pool's memory.
  class Tenant {
   public:
    // Returns whether a run is under way, or may be under way because an error cut it short.
    virtual bool is_running() const = 0;
    // Frees the tenant's objects. Not called while it is running. enter() makes them again.
    virtual void leave() noexcept = 0;

   protected:
    ~Tenant() = default;
  };

  // overlap: the policy of a pool that sessions share; empty for a pool whose tenants never run at the same
  // time. memory_budget: the budget that the memory counts against, or null.
  explicit ArenaPool(std::shared_ptr<gpu::Context> context, std::optional<PoolOverlap> overlap = {},
                     std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr);
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;

  const std::shared_ptr<gpu::Context>& context() const { return context_; }
  bool is_shared() const { return overlap_.has_value(); }
  Turn turn() const { return Turn(mutex_); }

  // Returns for each planned arena one that is at least as large. If the pool's arena is too small, tenants
  // that are not running leave(), and a larger arena replaces it. Throws Error(out_of_memory). `needs` must
  // live until exit(). A tenant may enter again.
  std::vector<std::shared_ptr<gpu::Arena>> enter(const Turn&, Tenant& tenant,
                                                 std::span<const PlannedArena> needs);
  // A number that changes when arenas are replaced. Objects of an older generation are in memory that the
  // pool no longer owns.
  uint64_t generation(const Turn&) const { return generation_; }
  // Throws Error(invalid_argument) if PoolOverlap::refuse forbids that the tenant runs now.
  void check_overlap(const Turn&, const Tenant& tenant) const;
  // Removes a tenant. Memory that no other tenant needs is freed.
  void exit(Tenant& tenant) noexcept;
  // Frees the arenas that no tenant needs.
  void free_unused(const Turn&) noexcept;
  // Calls leave() of all tenants that are not running, and releases all arenas.
  void trim(const Turn&) noexcept;

  // Returns the bytes of the pool's arenas now.
  uint64_t bytes() const;

 private:
  // The memory type, and the index among the arenas of that type.
  using ArenaKey = std::pair<uint32_t, uint32_t>;

  std::vector<ArenaKey> keys(std::span<const PlannedArena> needs) const;
  std::map<ArenaKey, uint64_t> largest_needs() const;
  void dismiss_idle(const Tenant* except) noexcept;

  const std::shared_ptr<gpu::Context> context_;
  const std::optional<PoolOverlap> overlap_;
  const std::shared_ptr<gpu::MemoryBudget> memory_budget_;
  mutable std::mutex mutex_;
  std::map<ArenaKey, std::shared_ptr<gpu::Arena>> arenas_;
  std::map<Tenant*, std::span<const PlannedArena>> tenants_;
  uint64_t generation_ = 0;
};

}  // namespace vellum

// Device memory that the intermediate tensors of several executors share: as much as the one that needs most.
//
// What an executor has in the pool's memory is dead between its runs, so the next executor may begin there
// anything. Executors whose runs follow one another on the host need nothing else. A shared pool serves
// executors of different sessions: the commands of each run wait on the device for earlier work of the queue,
// and a run is handed to the device whole before another begins (Turn).
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
  // One thread at a time has it: it alone begins a run, or binds and frees what is in the pool's memory.
  using Turn = std::unique_lock<std::mutex>;

  // An owner of objects in the pool's memory: an executor.
  class Tenant {
   public:
    // Whether a run is under way, or one that an error cut short may be.
    virtual bool is_running() const = 0;
    // Frees the objects; not while it is running. They come back with enter().
    virtual void leave() noexcept = 0;

   protected:
    ~Tenant() = default;
  };

  // overlap: of a pool that sessions share; nothing: of one whose tenants never run at the same time.
  // memory_budget: that the memory counts against; null: none.
  explicit ArenaPool(std::shared_ptr<gpu::Context> context, std::optional<PoolOverlap> overlap = {},
                     std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr);
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;

  const std::shared_ptr<gpu::Context>& context() const { return context_; }
  bool is_shared() const { return overlap_.has_value(); }
  Turn turn() const { return Turn(mutex_); }

  // Returns an arena for each planned one, at least as large. Where the pool has none so large, the tenants
  // that are not running leave, and larger memory replaces the smaller. Throws Error(out_of_memory). `needs`
  // must live until exit(); a tenant may enter again.
  std::vector<std::shared_ptr<gpu::Arena>> enter(const Turn&, Tenant& tenant,
                                                 std::span<const PlannedArena> needs);
  // Changes with the arenas: objects that were made at another generation are in memory that the pool has
  // given up.
  uint64_t generation(const Turn&) const { return generation_; }
  // Throws Error(invalid_argument) if PoolOverlap::refuse forbids that the tenant runs now.
  void check_overlap(const Turn&, const Tenant& tenant) const;
  // The tenant is gone. Memory that only it needed is freed.
  void exit(Tenant& tenant) noexcept;
  // Frees what no tenant is in.
  void free_unused(const Turn&) noexcept;
  // Lets tenants that are not running leave, and gives up all memory.
  void trim(const Turn&) noexcept;

  // The size of the memory that the pool has now.
  uint64_t bytes() const;

 private:
  // Memory type, and which of the arenas of that type.
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

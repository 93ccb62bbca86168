#include "exec/arena_pool.hpp"

#include <algorithm>

#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {

ArenaPool::ArenaPool(std::shared_ptr<gpu::Context> context, std::optional<PoolOverlap> overlap,
                     std::shared_ptr<gpu::MemoryBudget> memory_budget)
    : context_(std::move(context)), overlap_(overlap), memory_budget_(std::move(memory_budget)) {}

std::vector<ArenaPool::ArenaKey> ArenaPool::keys(std::span<const PlannedArena> needs) const {
  std::vector<ArenaKey> keys;
  for (const PlannedArena& need : needs) {
    const uint32_t type = choose_memory_type(*context_, need.memory_types, gpu::MemoryKind::device);
    const auto of_type = std::ranges::count(keys, type, &ArenaKey::first);
    keys.emplace_back(type, static_cast<uint32_t>(of_type));
  }
  return keys;
}

std::map<ArenaPool::ArenaKey, uint64_t> ArenaPool::largest_needs() const {
  std::map<ArenaKey, uint64_t> largest;
  for (const auto& [tenant, needs] : tenants_) {
    const std::vector<ArenaKey> taken = keys(needs);
    for (size_t i = 0; i < needs.size(); ++i) largest[taken[i]] = std::max(largest[taken[i]], needs[i].bytes);
  }
  return largest;
}

void ArenaPool::dismiss_idle(const Tenant* except) noexcept {
  for (const auto& [tenant, needs] : tenants_)
    if (tenant != except && !tenant->is_running()) tenant->leave();
}

std::vector<std::shared_ptr<gpu::Arena>> ArenaPool::enter(const Turn&, Tenant& tenant,
                                                          std::span<const PlannedArena> needs) {
  tenants_[&tenant] = needs;
  const std::vector<ArenaKey> wanted = keys(needs);
  for (size_t i = 0; i < needs.size(); ++i) {
    std::shared_ptr<gpu::Arena>& arena = arenas_[wanted[i]];
    if (arena && arena->size() >= needs[i].bytes) continue;
    // The old memory goes before the new comes, so that the device never needs memory for both.
    dismiss_idle(&tenant);
    ++generation_;
    arena.reset();
    arena = std::make_shared<gpu::Arena>(
        context_, largest_needs().at(wanted[i]), 1u << wanted[i].first, gpu::MemoryKind::device,
        gpu::MemoryPurpose(gpu::MemoryCategory::intermediates, memory_budget_));
  }
  std::vector<std::shared_ptr<gpu::Arena>> entered;
  for (const ArenaKey& key : wanted) entered.push_back(arenas_.at(key));
  return entered;
}

void ArenaPool::check_overlap(const Turn&, const Tenant& tenant) const {
  if (overlap_ != PoolOverlap::refuse) return;
  for (const auto& [other, needs] : tenants_)
    if (other != &tenant && other->is_running())
      throw Error(ErrorCode::invalid_argument,
                  "another run that uses the memory pool is under way, and the pool was made to refuse that "
                  "(PoolOverlap::refuse): wait for that run first");
}

void ArenaPool::exit(Tenant& tenant) noexcept {
  const Turn held = turn();
  if (tenants_.erase(&tenant) == 0) return;
  try {
    const std::map<ArenaKey, uint64_t> needed = largest_needs();
    const bool too_large = std::ranges::any_of(arenas_, [&](const auto& entry) {
      const auto need = needed.find(entry.first);
      return need == needed.end() || !entry.second || entry.second->size() > need->second;
    });
    if (too_large) trim(held);
  } catch (...) {
    // No memory to compute with: the pool stays as large as it is.
  }
}

void ArenaPool::free_unused(const Turn&) noexcept {
  const auto is_unused = [](const auto& entry) { return entry.second.use_count() <= 1; };
  if (std::erase_if(arenas_, is_unused) > 0) ++generation_;
}

void ArenaPool::trim(const Turn&) noexcept {
  dismiss_idle(nullptr);
  ++generation_;
  arenas_.clear();
}

uint64_t ArenaPool::bytes() const {
  const Turn held = turn();
  uint64_t bytes = 0;
  for (const auto& [key, arena] : arenas_) bytes += arena ? arena->size() : 0;
  return bytes;
}

}  // namespace vellum

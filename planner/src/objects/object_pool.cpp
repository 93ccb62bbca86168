#include "object_pool.hpp"

#include <tuple>

namespace vellum::planner::detail {

std::optional<ObjectPool::Fit> ObjectPool::fit(uint32_t object, const Item& item) const {
  const Object& candidate = objects_[object];
  if (!candidate.busy.is_free(item)) return std::nullopt;
  const uint64_t grown = records_.bytes_of(cover(candidate.extent, item.extent));
  const uint64_t growth = grown - candidate.bytes;
  if (growth >= item.bytes) return std::nullopt;
  return Fit{object, growth, grown - item.bytes};
}

std::optional<ObjectPool::Fit> ObjectPool::best_fit(const Item& item) const {
  if (busy_.max(axis_.first(item), axis_.last(item)) == static_cast<int64_t>(objects_.size()))
    return std::nullopt;
  return records_.one_dimensional() ? best_fit_by_bytes(item) : best_fit_by_extent(item);
}

// With one dimension, objects are preferred in the order of their bytes: upwards from the tensor's size, then
// downwards from it.
std::optional<ObjectPool::Fit> ObjectPool::best_fit_by_bytes(const Item& item) const {
  const auto start = by_bytes_.lower_bound({item.bytes, 0});
  for (auto larger = start; larger != by_bytes_.end(); ++larger) {
    if (const auto found = fit(larger->second, item)) return found;
  }
  for (auto smaller = start; smaller != by_bytes_.begin();) {
    --smaller;
    if (const auto found = fit(smaller->second, item)) return found;
  }
  return std::nullopt;
}

std::optional<ObjectPool::Fit> ObjectPool::best_fit_by_extent(const Item& item) const {
  std::optional<Fit> best;
  for (uint32_t object = 0; object < objects_.size(); ++object) {
    const auto found = fit(object, item);
    if (!found) continue;
    if (!best || std::tie(found->growth, found->unused) < std::tie(best->growth, best->unused)) best = found;
    if (best->growth == 0 && best->unused == 0) break;  // none can be better
  }
  return best;
}

void ObjectPool::put(uint32_t object, const Item& item) {
  Object& target = objects_[object];
  target.busy.occupy(item);
  busy_.add(axis_.first(item), axis_.last(item), 1);
  const Extent grown = cover(target.extent, item.extent);
  if (grown == target.extent) return;
  if (records_.one_dimensional()) by_bytes_.erase({target.bytes, object});
  target.extent = grown;
  target.bytes = records_.bytes_of(grown);
  if (records_.one_dimensional()) by_bytes_.insert({target.bytes, object});
}

uint32_t ObjectPool::put_in_new(const Item& item) {
  const auto object = static_cast<uint32_t>(objects_.size());
  objects_.emplace_back();
  put(object, item);
  return object;
}

ObjectAssignment assign_in(const std::vector<uint32_t>& order, const RecordClass& records) {
  ObjectPool pool(records);
  ObjectAssignment object_of(records.items.size());
  for (const uint32_t i : order) {
    const Item& item = records.items[i];
    if (const auto fit = pool.best_fit(item)) {
      pool.put(fit->object, item);
      object_of[i] = fit->object;
    } else {
      object_of[i] = pool.put_in_new(item);
    }
  }
  return object_of;
}

}  // namespace vellum::planner::detail

// The validator. It deliberately includes no header of the strategies: it works on the caller's records, with
// its own arithmetic, so that a mistake in the strategies cannot hide here.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "vellum/planner/plan.hpp"

namespace vellum::planner {
namespace {

[[noreturn]] void fail(const std::string& why) { throw PlanError("invalid plan: " + why); }

std::string nth(const char* what, size_t index) { return std::string(what) + " " + std::to_string(index); }

std::string lifetime(const TensorUsageRecord& record) {
  return "tasks " + std::to_string(record.first_task) + " to " + std::to_string(record.last_task);
}

uint64_t rounded(uint64_t bytes, uint64_t alignment, const std::string& whose) {
  const uint64_t rest = bytes % alignment;
  if (rest == 0) return bytes;
  if (bytes > std::numeric_limits<uint64_t>::max() - (alignment - rest))
    fail(whose + " does not fit 64 bits");
  return bytes + (alignment - rest);
}

void check_input(std::span<const TensorUsageRecord> records, const PlanOptions& options, size_t assigned) {
  if (options.alignment == 0 || (options.alignment & (options.alignment - 1)) != 0) {
    fail("alignment " + std::to_string(options.alignment) + " is not a power of two");
  }
  if (assigned != records.size()) {
    fail("it assigns " + std::to_string(assigned) + " tensors, but there are " +
         std::to_string(records.size()));
  }
  for (size_t i = 0; i < records.size(); ++i) {
    const auto& record = records[i];
    if (record.first_task < 0 || record.last_task < record.first_task) {
      fail(nth("record", i) + " has an impossible lifetime, " + lifetime(record));
    }
    if (byte_size(record.size) == 0) fail(nth("record", i) + " has no bytes");
  }
}

bool covers(const Size& object, const Size& tensor) {
  if (object.index() != tensor.index()) return false;
  if (const auto* a = std::get_if<Bytes>(&object)) return a->bytes >= std::get<Bytes>(tensor).bytes;
  if (const auto* a = std::get_if<Texture2D>(&object)) {
    const auto& b = std::get<Texture2D>(tensor);
    return a->format == b.format && a->width >= b.width && a->height >= b.height;
  }
  const auto& a = std::get<Texture3D>(object);
  const auto& b = std::get<Texture3D>(tensor);
  return a.format == b.format && a.width >= b.width && a.height >= b.height && a.depth >= b.depth;
}

// Plans made by hand may leave out what is chosen where nothing is to be chosen.
Size chosen_size(const TensorUsageRecord& record, const ObjectPlan& plan, size_t index) {
  if (plan.size_of.empty() && record.other_extents.empty()) return record.size;
  if (index >= plan.size_of.size()) fail(nth("record", index) + " has no chosen size");
  const Size& chosen = plan.size_of[index];
  bool is_own = chosen == record.size;
  for (const Texture2D& other : record.other_extents) is_own = is_own || chosen == Size{other};
  if (!is_own) fail(nth("record", index) + " has a size that is none of its own");
  return chosen;
}

void check_total(uint64_t stated, uint64_t found) {
  if (stated != found) {
    fail("it states " + std::to_string(stated) + " bytes in total, but takes " + std::to_string(found));
  }
}

void check_sharing(std::span<const TensorUsageRecord> records, const ObjectPlan& plan) {
  std::vector<size_t> order(records.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(plan.object_of[a], records[a].first_task, a) <
           std::tuple(plan.object_of[b], records[b].first_task, b);
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const size_t a = order[i - 1], b = order[i];
    if (plan.object_of[a] == plan.object_of[b] && records[b].first_task <= records[a].last_task) {
      fail(nth("records", a) + " (" + lifetime(records[a]) + ") and " + std::to_string(b) + " (" +
           lifetime(records[b]) + ") are live at once in " + nth("object", plan.object_of[a]));
    }
  }
}

// Sweeps over time with the live tensors sorted by offset; a new tensor can conflict only with its
// neighbours.
class ArenaSweep {
 public:
  ArenaSweep(std::span<const TensorUsageRecord> records, const OffsetPlan& plan, std::vector<uint64_t> ends)
      : records_(records), plan_(plan), ends_(std::move(ends)) {}

  void check() {
    std::vector<size_t> starts(records_.size()), stops(records_.size());
    std::iota(starts.begin(), starts.end(), size_t{0});
    stops = starts;
    std::stable_sort(starts.begin(), starts.end(),
                     [&](size_t a, size_t b) { return records_[a].first_task < records_[b].first_task; });
    std::stable_sort(stops.begin(), stops.end(),
                     [&](size_t a, size_t b) { return records_[a].last_task < records_[b].last_task; });
    auto stop = stops.begin();
    for (const size_t record : starts) {
      for (; records_[*stop].last_task < records_[record].first_task; ++stop)
        live_.erase(plan_.offset_of[*stop]);
      enter(record);
    }
  }

 private:
  void enter(size_t record) {
    const uint64_t offset = plan_.offset_of[record];
    const auto [place, is_free] = live_.emplace(offset, record);
    if (!is_free) clash(place->second, record);
    if (place != live_.begin() && ends_[std::prev(place)->second] > offset)
      clash(std::prev(place)->second, record);
    if (std::next(place) != live_.end() && std::next(place)->first < ends_[record]) {
      clash(std::next(place)->second, record);
    }
  }

  std::string place(size_t record) const {
    return "(" + lifetime(records_[record]) + ", bytes " + std::to_string(plan_.offset_of[record]) + " to " +
           std::to_string(ends_[record]) + ")";
  }

  [[noreturn]] void clash(size_t a, size_t b) const {
    fail(nth("records", a) + " " + place(a) + " and " + std::to_string(b) + " " + place(b) + " overlap");
  }

  std::span<const TensorUsageRecord> records_;
  const OffsetPlan& plan_;
  std::vector<uint64_t> ends_;
  std::map<uint64_t, size_t> live_;  // offset -> record
};

}  // namespace

void validate(std::span<const TensorUsageRecord> records, const ObjectPlan& plan,
              const PlanOptions& options) {
  check_input(records, options, plan.object_of.size());
  std::vector<bool> used(plan.objects.size(), false);
  for (size_t i = 0; i < records.size(); ++i) {
    const uint32_t object = plan.object_of[i];
    if (object >= plan.objects.size())
      fail(nth("record", i) + " is in " + nth("object", object) + ", which does not exist");
    if (!covers(plan.objects[object], chosen_size(records[i], plan, i))) {
      fail(nth("object", object) + " does not cover " + nth("record", i) +
           " in every dimension and in format");
    }
    used[object] = true;
  }
  uint64_t total = 0;
  for (size_t object = 0; object < plan.objects.size(); ++object) {
    if (!used[object]) fail(nth("object", object) + " carries no tensor");
    const Size& size = plan.objects[object];
    const uint64_t bytes = rounded(options.object_bytes ? options.object_bytes(size) : byte_size(size),
                                   options.alignment, nth("object", object));
    if (bytes > std::numeric_limits<uint64_t>::max() - total) fail("its total does not fit 64 bits");
    total += bytes;
  }
  check_total(plan.total_bytes, total);
  check_sharing(records, plan);
}

void validate(std::span<const TensorUsageRecord> records, const OffsetPlan& plan,
              const PlanOptions& options) {
  check_input(records, options, plan.offset_of.size());
  std::vector<uint64_t> ends;
  ends.reserve(records.size());
  uint64_t highest = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    if (!std::holds_alternative<Bytes>(records[i].size))
      fail(nth("record", i) + " is a texture in an arena of bytes");
    const uint64_t offset = plan.offset_of[i];
    if (offset % options.alignment != 0) {
      fail(nth("record", i) + " at offset " + std::to_string(offset) + " is not aligned to " +
           std::to_string(options.alignment));
    }
    const Size& size = records[i].size;
    const uint64_t bytes = rounded(options.object_bytes ? options.object_bytes(size) : byte_size(size),
                                   options.alignment, nth("record", i));
    if (bytes > std::numeric_limits<uint64_t>::max() - offset)
      fail(nth("record", i) + " ends beyond 64 bits");
    ends.push_back(offset + bytes);
    highest = std::max(highest, ends.back());
  }
  check_total(plan.total_bytes, highest);
  ArenaSweep(records, plan, std::move(ends)).check();
}

}  // namespace vellum::planner

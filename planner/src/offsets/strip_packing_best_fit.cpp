// Best fit for strip packing, from Sekiyama, Imai, Negishi, Kawachiya, "Profile-guided memory optimization
// for deep neural networks" (2018, arXiv 1804.10001), section 3, and Burke, Kendall, Whitwell (2004). Time is
// the strip's width. The lowest stretch of the skyline receives the longest-lived tensor that fits within it;
// if none does, it is raised to the lower of its neighbours.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "assignment.hpp"
#include "longest_within.hpp"

namespace vellum::planner::detail {
namespace {

class Skyline {
 public:
  Skyline(int64_t begin, int64_t end) { insert(begin, {end, 0}); }

  struct Stretch {
    int64_t end = 0;  // inclusive
    uint64_t height = 0;
  };
  std::pair<int64_t, Stretch> lowest() const { return *stretches_.find(by_height_.begin()->second); }

  // Raises the part first..last of the stretch that begins at `begin`.
  void build(int64_t begin, int64_t first, int64_t last, uint64_t bytes) {
    const Stretch old = erase(begin);
    if (begin < first) insert(begin, {first - 1, old.height});
    if (last < old.end) insert(last + 1, old);
    insert(first, {last, old.height + bytes});
    merge_around(first);
  }

  // Lifts the stretch to the lower of its neighbours and joins it with those as high.
  void lift(int64_t begin) {
    const auto here = stretches_.find(begin);
    uint64_t height = std::numeric_limits<uint64_t>::max();
    if (here != stretches_.begin()) height = std::min(height, std::prev(here)->second.height);
    if (std::next(here) != stretches_.end()) height = std::min(height, std::next(here)->second.height);
    const Stretch old = erase(begin);
    insert(begin, {old.end, height});
    merge_around(begin);
  }

 private:
  void insert(int64_t begin, const Stretch& stretch) {
    stretches_.emplace(begin, stretch);
    by_height_.emplace(stretch.height, begin);
  }

  Stretch erase(int64_t begin) {
    const auto found = stretches_.find(begin);
    const Stretch stretch = found->second;
    by_height_.erase({stretch.height, begin});
    stretches_.erase(found);
    return stretch;
  }

  void merge_around(int64_t begin) {
    auto here = stretches_.find(begin);
    if (here != stretches_.begin() && std::prev(here)->second.height == here->second.height) {
      here = stretches_.find(join(std::prev(here)->first, begin));
    }
    const auto next = std::next(here);
    if (next != stretches_.end() && next->second.height == here->second.height)
      join(here->first, next->first);
  }

  int64_t join(int64_t left, int64_t right) {
    const Stretch a = erase(left), b = erase(right);
    insert(left, {b.end, a.height});
    return left;
  }

  std::map<int64_t, Stretch> stretches_;              // by begin
  std::set<std::pair<uint64_t, int64_t>> by_height_;  // height, begin
};

}  // namespace

OffsetAssignment offsets_strip_packing_best_fit(const RecordClass& records) {
  const auto& items = records.items;
  OffsetAssignment offset_of(items.size());
  if (items.empty()) return offset_of;
  int64_t begin = items[0].first, end = items[0].last;
  for (const Item& item : items) {
    begin = std::min(begin, item.first);
    end = std::max(end, item.last);
  }
  Skyline skyline(begin, end);
  LongestWithin waiting(items);
  for (size_t left = items.size(); left > 0;) {
    const auto [lowest, stretch] = skyline.lowest();
    const uint32_t item = waiting.find(lowest, stretch.end);
    if (item == kNone) {
      skyline.lift(lowest);
      continue;
    }
    offset_of[item] = stretch.height;
    skyline.build(lowest, items[item].first, items[item].last, items[item].bytes);
    waiting.remove(item);
    --left;
  }
  return offset_of;
}

}  // namespace vellum::planner::detail

// Exact offsets: bisection over the arena's size, with a feasibility search (OffsetSearch) that is restarted
// with many priorities at each size. The effort for one size doubles until every size below the plan's is
// refuted.
#include "exact.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "../bounds.hpp"
#include "offset_search.hpp"
#include "priorities.hpp"

namespace vellum::planner::detail {
namespace {

// With more tensors a search has no prospect of ending, and its recursion needs a deep stack.
constexpr size_t kMostItems = 1500;
constexpr uint64_t kMostUnits = uint64_t{1} << 60;  // so that no sum in the search overflows
constexpr int64_t kFirstTries = 500;                // of one run of the search

// The lengths of runs: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair, Zuckerman 1993), which is within a
// logarithmic factor of the best choice of restarts, whatever the instance.
int64_t luby(uint64_t i) {
  for (;;) {
    const auto k = static_cast<unsigned>(std::bit_width(i + 1));
    if (i + 1 == (uint64_t{1} << k) - 1) return int64_t{1} << (k - 1);
    i -= (uint64_t{1} << (k - 1)) - 1;
  }
}

// A set of tensors whose lifetimes overlap no others.
class Part {
 public:
  Part(std::vector<Item> items, std::vector<uint32_t> index, uint64_t unit, const OffsetAssignment& start)
      : items_(std::move(items)),
        index_(std::move(index)),
        unit_(unit),
        search_(items_, unit),
        priorities_(items_, search_) {
    for (size_t i = 0; i < items_.size(); ++i) {
      best_.push_back(static_cast<int64_t>(start[index_[i]] / unit));
      best_total_ = std::max(best_total_, best_.back() + search_.blocks()[i].size);
    }
    for (size_t c = 0; c < search_.cliques(); ++c) {
      int64_t height = 0;
      for (const uint32_t i : search_.clique(c)) height += search_.blocks()[i].size;
      bound_ = std::max(bound_, height);
    }
  }

  uint64_t bound() const { return static_cast<uint64_t>(bound_) * unit_; }

  // Improves the plan until the total is at most `enough`, or proved to be the smallest, or the budget is
  // spent.
  void improve(uint64_t enough, SearchBudget& budget) {
    const auto wanted = std::max(static_cast<int64_t>(enough / unit_), bound_);
    for (uint64_t round = 0; best_total_ > std::max(wanted, bound_) && !budget.is_spent(); ++round) {
      const int64_t smallest = std::max(wanted, bound_);
      const Verdict verdict = attempt(smallest, round, budget);
      // Mostly the smallest arena is tried. Every other time the plan that there is shrinks too.
      if (verdict == Verdict::gave_up && round % 2 == 0) shrink(smallest, round, budget);
    }
  }

  void write(OffsetAssignment& offset_of) const {
    for (size_t i = 0; i < index_.size(); ++i) offset_of[index_[i]] = static_cast<uint64_t>(best_[i]) * unit_;
  }

 private:
  using Verdict = OffsetSearch::Verdict;

  // Tries arenas between `smallest` and the best plan's. What fits is followed by smaller ones, what does not
  // by one nearer to the best plan.
  void shrink(int64_t smallest, uint64_t round, SearchBudget& budget) {
    int64_t failed = smallest;
    for (int64_t part = 2; best_total_ - failed > 1 && !budget.is_spent();) {
      const int64_t capacity = best_total_ - std::max<int64_t>((best_total_ - failed) / part, 1);
      const Verdict verdict = attempt(capacity, round, budget);
      if (verdict == Verdict::infeasible) failed = capacity;
      if (verdict != Verdict::gave_up) continue;
      if (best_total_ - capacity == 1) return;
      part *= 4;
    }
  }

  // Tries every priority once, as long as the round allows; in the first round only two, to reach larger
  // arenas soon.
  Verdict attempt(int64_t capacity, uint64_t round, SearchBudget& budget) {
    const size_t kinds = round == 0 ? 2 : priorities_.kinds();
    for (size_t kind = 0; kind < kinds; ++kind) {
      const Verdict verdict = search_.run(capacity, priorities_.rank(kind, round),
                                          priorities_.tie_break(kind), kFirstTries * luby(round), budget);
      if (verdict == Verdict::found) keep();
      if (verdict == Verdict::infeasible) bound_ = capacity + 1;
      if (verdict != Verdict::gave_up || budget.is_spent()) return verdict;
    }
    return Verdict::gave_up;
  }

  void keep() {
    best_.assign(search_.offsets().begin(), search_.offsets().end());
    best_total_ = 0;
    for (size_t i = 0; i < best_.size(); ++i)
      best_total_ = std::max(best_total_, best_[i] + search_.blocks()[i].size);
  }

  std::vector<Item> items_;
  std::vector<uint32_t> index_;
  uint64_t unit_;
  OffsetSearch search_;
  Priorities priorities_;
  std::vector<int64_t> best_;
  int64_t best_total_ = 0, bound_ = 0;
};

// Returns the largest divisor of all sizes and offsets, the unit of the search.
uint64_t unit_of(const RecordClass& records, const OffsetAssignment& start) {
  uint64_t unit = 0;
  for (const Item& item : records.items) unit = std::gcd(unit, item.bytes);
  // Offsets of a start that was not pushed down need not be multiples of the sizes' divisor.
  for (const uint64_t offset : start) unit = std::gcd(unit, offset);
  return unit;
}

bool is_searchable(const RecordClass& records, uint64_t unit) {
  uint64_t sum = 0;
  for (const Item& item : records.items) sum += item.bytes / unit;
  return sum <= kMostUnits;
}

// Splits the items into runs whose lifetimes do not overlap.
std::vector<std::vector<uint32_t>> parts_of(const RecordClass& records) {
  std::vector<uint32_t> order(records.items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return records.items[a].first < records.items[b].first; });
  std::vector<std::vector<uint32_t>> parts;
  int64_t reach = -1;
  for (const uint32_t i : order) {
    if (records.items[i].first > reach) parts.emplace_back();
    parts.back().push_back(i);
    reach = std::max(reach, records.items[i].last);
  }
  return parts;
}

}  // namespace

ExactOffsets improve_offsets(const RecordClass& records, OffsetAssignment start, uint64_t target,
                             SearchBudget& budget) {
  ExactOffsets result{std::move(start), offsets_lower_bound(records)};
  const uint64_t unit = unit_of(records, result.offset_of);
  if (budget.is_spent() || !is_searchable(records, unit)) return result;
  for (const auto& index : parts_of(records)) {
    if (budget.is_spent()) break;
    // Improving the other parts below the bound of one part would not improve the total.
    const uint64_t enough = std::max(result.lower_bound, target);
    uint64_t total = 0;
    for (const uint32_t i : index) total = std::max(total, result.offset_of[i] + records.items[i].bytes);
    if (total <= enough || index.size() > kMostItems) continue;
    std::vector<Item> items;
    items.reserve(index.size());
    for (const uint32_t i : index) items.push_back(records.items[i]);
    Part part(std::move(items), index, unit, result.offset_of);
    part.improve(enough, budget);
    result.lower_bound = std::max(result.lower_bound, part.bound());
    part.write(result.offset_of);
  }
  return result;
}

}  // namespace vellum::planner::detail

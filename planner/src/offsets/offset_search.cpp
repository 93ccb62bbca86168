#include "offset_search.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "../task_axis.hpp"
#include "../trees.hpp"

namespace vellum::planner::detail {
namespace {

constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 2;

bool meet(const Item& a, const Item& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

OffsetSearch::OffsetSearch(std::span<const Item> items, uint64_t unit)
    : blocks_(items.size()), live_with_(items.size()) {
  for (size_t i = 0; i < items.size(); ++i) blocks_[i].size = static_cast<int64_t>(items[i].bytes / unit);
  for (uint32_t a = 0; a < items.size(); ++a) {
    for (uint32_t b = 0; b < items.size(); ++b) {
      if (a != b && meet(items[a], items[b])) live_with_[a].push_back(b);
    }
  }
  find_cliques(items);
  failures_.assign(cliques_.size(), 0);
}

// A set of tensors that are live together is maximal if one of them ends before the next tensor starts.
void OffsetSearch::find_cliques(std::span<const Item> items) {
  const TaskAxis axis(items);
  std::vector<bool> seen(items.size(), false);
  for (size_t t = 0; t < axis.size(); ++t) {
    std::vector<uint32_t> members;
    bool maximal = t + 1 == axis.size();
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (items[i].first > axis.task(t) || items[i].last < axis.task(t)) continue;
      members.push_back(i);
      if (!maximal) maximal = items[i].last < axis.task(t + 1);
    }
    if (!maximal) continue;
    const auto clique = static_cast<uint32_t>(cliques_.size());
    for (const uint32_t i : members) {
      if (!seen[i]) blocks_[i].first_clique = clique;
      seen[i] = true;
      blocks_[i].last_clique = clique;
    }
    cliques_.push_back(std::move(members));
  }
}

void OffsetSearch::reset(int64_t capacity) {
  // Infeasible subproblems stay infeasible when the capacity shrinks.
  if (capacity > infeasible_capacity_) infeasible_.clear();
  infeasible_capacity_ = capacity_ = capacity;
  stopped_ = false;
  effort_ = 0;
  placed_.assign(blocks_.size(), false);
  least_.assign(blocks_.size(), 0);
  offset_.assign(blocks_.size(), 0);
  height_.assign(cliques_.size(), 0);
  for (size_t c = 0; c < cliques_.size(); ++c) {
    for (const uint32_t i : cliques_[c]) height_[c] += blocks_[i].size;
  }
  raises_.clear();
  changed_.assign(cliques_.size() / 64 + 1, 0);
  members_.resize(blocks_.size());
  std::iota(members_.begin(), members_.end(), 0u);
  std::stable_sort(members_.begin(), members_.end(),
                   [&](uint32_t a, uint32_t b) { return blocks_[a].first_clique < blocks_[b].first_clique; });
}

OffsetSearch::Verdict OffsetSearch::run(int64_t capacity, std::span<const uint32_t> priority,
                                        TieBreak tie_break, int64_t tries, SearchBudget& budget) {
  reset(capacity);
  priority_ = priority;
  tie_break_ = tie_break;
  tries_left_ = tries;
  budget_ = &budget;
  if (*std::max_element(height_.begin(), height_.end()) > capacity) return Verdict::infeasible;
  if (solve_parts({0, members_.size()}, 0)) return Verdict::found;
  return stopped_ ? Verdict::gave_up : Verdict::infeasible;
}

// Splits the unplaced tensors into sets whose lifetimes do not overlap. The smallest is solved first, because
// it fails soonest.
bool OffsetSearch::solve_parts(Range rest, int64_t floor) {
  std::vector<Range> parts;
  uint32_t reach = 0;
  for (size_t m = rest.begin; m < rest.end; ++m) {
    const Block& block = blocks_[members_[m]];
    if (parts.empty() || block.first_clique > reach) parts.push_back({m, m});
    ++parts.back().end;
    reach = std::max(reach, block.last_clique);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Range& a, const Range& b) { return a.size() < b.size(); });
  for (size_t p = 0; p < parts.size(); ++p) {
    if (solve(parts[p], floor)) continue;
    for (size_t solved = 0; solved < p; ++solved) {
      for (size_t m = parts[solved].begin; m < parts[solved].end; ++m) {
        if (placed_[members_[m]]) put_back(members_[m]);
      }
    }
    return false;
  }
  return true;
}

bool OffsetSearch::solve(Range part, int64_t floor) {
  if (part.size() == 1) {
    const uint32_t block = members_[part.begin];
    const int64_t offset = std::max(least_[block], floor);
    if (offset + blocks_[block].size > capacity_) return false;
    take(block);
    offset_[block] = offset;
    return true;
  }
  const auto members = [&] { return std::span(members_).subspan(part.begin, part.size()); };
  const auto state = [&] {
    state_.clear();
    for (const uint32_t block : members()) state_.push_back(std::max(least_[block], floor));
    return std::span<const int64_t>(state_);
  };
  if (infeasible_.covers(members(), state())) return false;
  if (branch(part, floor)) return true;
  if (!stopped_) infeasible_.add(members(), state());
  return false;
}

bool OffsetSearch::branch(Range part, int64_t floor) {
  const size_t mark = raises_.size();
  const size_t top_of_stack = members_.size();
  int64_t tallest = 0;
  for (size_t m = part.begin; m < part.end; ++m) {
    const Block& block = blocks_[members_[m]];
    for (uint32_t c = block.first_clique; c <= block.last_clique; ++c)
      tallest = std::max(tallest, height_[c]);
  }
  const auto fail = [&] {
    undo_raises(mark);
    return false;
  };
  for (;;) {
    const uint32_t next = choose(part, floor, tallest);
    if (next == kNone) return fail();
    effort_ += static_cast<int64_t>(3 * part.size() + live_with_[next].size());
    if (--tries_left_ < 0 || !budget_->spend(std::exchange(effort_, 0))) stopped_ = true;
    if (stopped_) return fail();
    floor = std::max(least_[next], floor);
    const size_t mark_before = raises_.size();
    const bool something_above = place(next, floor);
    bool found = within_bounds(floor);
    if (found) {
      for (size_t m = part.begin; m < part.end; ++m) {
        const uint32_t other = members_[m];
        if (other != next) members_.push_back(other);
      }
      found = solve_parts({top_of_stack, members_.size()}, floor);
      members_.resize(top_of_stack);
    }
    if (found) return true;
    put_back(next);
    undo_raises(mark_before);
    // If nothing can come above it, `next` is not what the others failed for.
    if (stopped_ || !something_above) return fail();
    refute(next, floor);
    if (!within_bounds(floor)) return fail();
  }
}

double OffsetSearch::preference(uint32_t block, int64_t floor) {
  // Slack counts from here, or a task without any would outweigh all failures.
  constexpr int64_t kLeastSlack = 8;
  if (tie_break_ == TieBreak::priority) return 0;
  const auto [size, first, last] = blocks_[block];
  effort_ += 1 + last - first;
  double most = 0;
  for (uint32_t c = first; c <= last; ++c) {
    auto weight = static_cast<double>(failures_[c]);
    if (tie_break_ == TieBreak::failures_by_slack)
      weight /= static_cast<double>(capacity_ - floor - height_[c] + kLeastSlack);
    most = std::max(most, weight);
  }
  return most;
}

uint32_t OffsetSearch::choose(Range part, int64_t floor, int64_t tallest) {
  int64_t lowest_top = kFar;
  for (size_t m = part.begin; m < part.end; ++m) {
    const uint32_t block = members_[m];
    lowest_top = std::min(lowest_top, std::max(least_[block], floor) + blocks_[block].size);
  }
  // Whatever is next, all remaining tensors are at its offset or above.
  const int64_t highest = std::min(lowest_top - 1, capacity_ - tallest);
  uint32_t best = kNone;
  int64_t best_offset = 0;
  double best_preference = 0;
  for (size_t m = part.begin; m < part.end; ++m) {
    const uint32_t block = members_[m];
    const int64_t offset = std::max(least_[block], floor);
    if (offset > highest || (best != kNone && offset > best_offset)) continue;
    const double preferred = preference(block, floor);
    if (best == kNone || offset < best_offset || preferred > best_preference ||
        (preferred == best_preference && priority_[block] > priority_[best])) {
      best = block;
      best_offset = offset;
      best_preference = preferred;
    }
  }
  return best;
}

// Returns whether an unplaced tensor is live with it, and so will be above it.
bool OffsetSearch::place(uint32_t block, int64_t offset) {
  take(block);
  offset_[block] = offset;
  mark_cliques(block);
  const int64_t top = offset + blocks_[block].size;
  bool something_above = false;
  for (const uint32_t other : live_with_[block]) {
    if (placed_[other]) continue;
    something_above = true;
    raise(other, top);
  }
  return something_above;
}

void OffsetSearch::refute(uint32_t block, int64_t offset) {
  int64_t lowest_top = kFar;
  for (const uint32_t other : live_with_[block]) {
    if (!placed_[other])
      lowest_top = std::min(lowest_top, std::max(least_[other], offset) + blocks_[other].size);
  }
  raise(block, lowest_top);
}

// Checks the cliques that changed since the last call.
bool OffsetSearch::within_bounds(int64_t floor) {
  bool within = true;
  // A raise in one clique may change cliques that were checked before.
  for (bool again = true; again;) {
    again = false;
    for (size_t word = 0; word < changed_.size(); ++word) {
      while (within && changed_[word] != 0) {
        again = true;
        const auto bit = static_cast<uint32_t>(std::countr_zero(changed_[word]));
        changed_[word] &= changed_[word] - 1;
        const uint32_t clique = static_cast<uint32_t>(64 * word) + bit;
        within = within_bound(clique, floor);
        if (!within) ++failures_[clique];
      }
      if (!within) changed_[word] = 0;
    }
    again = again && within;
  }
  return within;
}

bool OffsetSearch::within_bound(uint32_t clique, int64_t floor) {
  if (height_[clique] == 0) return true;
  effort_ += static_cast<int64_t>(2 * cliques_[clique].size());
  // The most bytes below the lowest tensor of the clique.
  const int64_t slack = capacity_ - height_[clique];
  if (floor > slack) return false;
  // Only offsets beyond the slack can break the bound. Sorted by falling offset.
  high_.clear();
  int64_t lowest_top = kFar;
  uint32_t lowest = kNone;
  size_t candidates = 0;
  for (const uint32_t block : cliques_[clique]) {
    if (placed_[block]) continue;
    if (least_[block] <= slack) {
      lowest = block;
      ++candidates;
      lowest_top = std::min(lowest_top, std::max(least_[block], floor) + blocks_[block].size);
      continue;
    }
    high_.emplace_back(least_[block], blocks_[block].size);
    for (size_t k = high_.size() - 1; k > 0 && high_[k - 1].first < high_[k].first; --k) {
      std::swap(high_[k - 1], high_[k]);
    }
  }
  if (candidates == 0) return false;
  int64_t sum = 0;
  for (const auto& [offset, size] : high_) {
    sum += size;
    if (offset + sum > capacity_) return false;
  }
  for (const uint32_t block : cliques_[clique]) {
    if (!placed_[block] && (least_[block] > slack || (candidates == 1 && block != lowest)))
      raise(block, lowest_top);
  }
  return true;
}

void OffsetSearch::raise(uint32_t block, int64_t offset) {
  if (least_[block] >= offset) return;
  raises_.emplace_back(block, least_[block]);
  least_[block] = offset;
  mark_cliques(block);
}

void OffsetSearch::undo_raises(size_t mark) {
  for (; raises_.size() > mark; raises_.pop_back()) least_[raises_.back().first] = raises_.back().second;
}

void OffsetSearch::take(uint32_t block) {
  placed_[block] = true;
  for (uint32_t c = blocks_[block].first_clique; c <= blocks_[block].last_clique; ++c)
    height_[c] -= blocks_[block].size;
}

void OffsetSearch::put_back(uint32_t block) {
  placed_[block] = false;
  for (uint32_t c = blocks_[block].first_clique; c <= blocks_[block].last_clique; ++c)
    height_[c] += blocks_[block].size;
}

void OffsetSearch::mark_cliques(uint32_t block) {
  for (uint32_t c = blocks_[block].first_clique; c <= blocks_[block].last_clique; ++c) {
    changed_[c / 64] |= uint64_t{1} << (c % 64);
  }
}

}  // namespace vellum::planner::detail

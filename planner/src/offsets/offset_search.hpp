// Decides by branch and bound whether an arena of a given capacity holds a set of tensors.
//
//   capacity +-------------------+
//            |      unplaced     |   Tensors are placed from the bottom up: the next one at the least offset
//            |   +-------+       |   that it can have, and none below one that is already placed.
//            |   |   C   | +---+ |
//            | +-+-+-----+ | D | |
//            | | A |  B  | |   | |
//            +-+---+-----+-+---+-+--> task
//
// Bottom-up placement loses no plan: push every tensor of a plan down as far as possible, then place them by
// offset. Among all plans within the capacity, the search never cuts the one with the least sum of offsets.
// It cuts branches by these rules:
//
// - Bound. The unplaced tensors of one task are stacked. With o the least offset and s the size of each, the
//   tensors with a least offset of o or more need o + the sum of their s.
// - Inference. Below the lowest unplaced tensor of a task there is at most the capacity minus the sum of
//   their sizes. All others are above one of the tensors that can be so low.
// - Dominance. If tensor j fits below the offset of i whatever else happens, j can be moved there, so i is
//   not next.
// - Refutation. If i failed as the next tensor, i is not at that offset in any plan, so it is stacked on
//   another tensor: its least offset rises to the lowest top of the tensors that are live with it.
// - Independence. If no unplaced tensor is live both before and after some task, the tensors before it and
//   those after it are searched separately; if one search fails, the subproblem fails.
// - Memoisation. Subproblems that failed are stored; others that are no easier fail at once
//   (InfeasibleStates).
//
// The search first tries the tensors that are live at tasks where earlier branches failed, so that a branch
// that cannot succeed fails early. The counts of failures (after dom/wdeg of Boussemart, Hemery, Lecoutre,
// Sais, "Boosting systematic search by weighting constraints", ECAI 2004) are kept between runs, so that each
// restart profits from earlier ones.
//
// Independence, bounds by task and canonical bottom-up plans are ideas of Moffitt, MiniMalloc (ASPLOS 2023).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../problem.hpp"
#include "../search_budget.hpp"
#include "infeasible_states.hpp"

namespace vellum::planner::detail {

// A tensor in the search. A clique is a maximal set of tensors that are live together; cliques are numbered
// in the order of time.
struct Block {
  int64_t size = 0;  // in units that the caller chooses
  uint32_t first_clique = 0;
  uint32_t last_clique = 0;
};

// The order in which tensors that can have the same offset are tried. `failures`: tensors of the task at
// which most branches failed come first. `failures_by_slack`: these failures are divided by the task's spare
// bytes. `priority`: by the tensor's priority, which also breaks ties of the other two.
enum class TieBreak { priority, failures, failures_by_slack };

class OffsetSearch {
 public:
  enum class Verdict { found, infeasible, gave_up };

  // Sizes are the items' bytes divided by `unit`, which divides them all.
  OffsetSearch(std::span<const Item> items, uint64_t unit);

  // Searches for a plan within `capacity` units. Among tensors with the same offset, the one that `tie_break`
  // prefers is tried first, and among equals the one with the highest priority. Gives up after `tries`
  // placements, or when the budget is spent.
  Verdict run(int64_t capacity, std::span<const uint32_t> priority, TieBreak tie_break, int64_t tries,
              SearchBudget& budget);

  // After `found`: the offset of each item, in units.
  std::span<const int64_t> offsets() const { return offset_; }

  std::span<const Block> blocks() const { return blocks_; }
  std::span<const uint32_t> clique(size_t index) const { return cliques_[index]; }
  size_t cliques() const { return cliques_.size(); }
  size_t live_with(size_t block) const { return live_with_[block].size(); }

 private:
  struct Range {
    size_t begin, end;  // in members_
    size_t size() const { return end - begin; }
  };

  void find_cliques(std::span<const Item> items);
  void reset(int64_t capacity);

  bool solve_parts(Range rest, int64_t floor);
  bool solve(Range part, int64_t floor);
  bool branch(Range part, int64_t floor);
  // Returns the tensor to place next; members_.size() if there is none.
  uint32_t choose(Range part, int64_t floor, int64_t tallest);
  // Returns how much `tie_break_` prefers the tensor, 0 or more.
  double preference(uint32_t block, int64_t floor);
  bool place(uint32_t block, int64_t offset);
  void refute(uint32_t block, int64_t offset);

  bool within_bounds(int64_t floor);
  bool within_bound(uint32_t clique, int64_t floor);

  void raise(uint32_t block, int64_t offset);
  void undo_raises(size_t mark);
  void take(uint32_t block);
  void put_back(uint32_t block);
  void mark_cliques(uint32_t block);

  std::vector<Block> blocks_;
  std::vector<std::vector<uint32_t>> cliques_;    // members
  std::vector<std::vector<uint32_t>> live_with_;  // per block the others

  int64_t capacity_ = 0;
  std::span<const uint32_t> priority_;
  TieBreak tie_break_ = TieBreak::priority;
  int64_t tries_left_ = 0;
  SearchBudget* budget_ = nullptr;
  bool stopped_ = false;
  int64_t effort_ = 0;  // steps not yet charged to the budget

  std::vector<uint8_t> placed_;  // not vector<bool>: read in every inner loop
  std::vector<int64_t> least_;   // least offset of each unplaced block
  std::vector<int64_t> offset_;
  std::vector<int64_t> height_;                       // per clique: sum of the unplaced sizes
  std::vector<uint64_t> failures_;                    // per clique, of all runs: bounds that it broke
  std::vector<std::pair<uint32_t, int64_t>> raises_;  // undo log: block, its previous least offset
  std::vector<uint32_t> members_;                     // a stack of subsets, each in the order of first_clique
  std::vector<uint64_t> changed_;                     // a bit for each clique that within_bounds() must check
  std::vector<std::pair<int64_t, int64_t>> high_;     // scratch of within_bound
  std::vector<int64_t> state_;                        // scratch of solve
  InfeasibleStates infeasible_;
  int64_t infeasible_capacity_ = 0;  // the smallest capacity of the states in infeasible_
};

}  // namespace vellum::planner::detail

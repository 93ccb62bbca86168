// Is there an arena of a given capacity that holds these tensors? Branch and bound.
//
// Tensors are placed from the bottom of the arena up: each next one at the least offset it can have, and none
// below one placed before. That loses nothing: push every tensor of a plan down as far as it goes and take
// them by offset. Of all plans within the capacity the search keeps alive the one with the least sum of
// offsets. What it cuts off:
// - Bound. The tensors still to place at one task stand on one another. With o the least offset and s the
// size of
//   each, the tensors with an offset of o or more need o + the sum of their s.
// - Inference. The lowest of those at a task has at most the capacity minus all their sizes below it. The
// others
//   stand above one of those that can be so low.
// - Dominance. If tensor j fits below the offset of i whatever else happens, j can be moved there, so i is
// not next.
// - Refutation. If i as the next tensor failed, i will not be at that offset, so it stands on some other
// tensor: its
//   least offset rises to the lowest top of those it is live with.
// - Independence. Where no tensor still to place reaches from one time to another, both sides are searched
// apart, and the failure of
//   one is the failure of both.
// - Memory. Subproblems that failed are remembered; others that are no easier fail at once
// (InfeasibleStates). The ideas of independence, of bounds by task and of canonical bottom-up plans are those
// of Moffitt, MiniMalloc (ASPLOS 2023).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../problem.hpp"
#include "../search_budget.hpp"
#include "infeasible_states.hpp"

namespace vellum::planner::detail {

// What the search knows of a tensor.
struct Block {
  int64_t size = 0;           // in units that the caller chooses
  uint32_t first_clique = 0;  // the maximal sets of tensors live together, in the order of time
  uint32_t last_clique = 0;
};

class OffsetSearch {
 public:
  enum class Verdict { found, infeasible, gave_up };

  // Sizes are the items' bytes divided by `unit`, which divides them all.
  OffsetSearch(std::span<const Item> items, uint64_t unit);

  // Tries tensors of higher priority first where several have the same offset. Gives up after `tries`
  // placements, or when the budget is spent.
  Verdict run(int64_t capacity, std::span<const uint32_t> priority, int64_t tries, SearchBudget& budget);

  // After `found`: per item its offset, in units.
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
  // The tensor that comes next, members_.size() where none can.
  uint32_t choose(Range part, int64_t floor, int64_t tallest) const;
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
  int64_t tries_left_ = 0;
  SearchBudget* budget_ = nullptr;
  bool stopped_ = false;
  int64_t effort_ = 0;  // steps not yet taken from the budget

  std::vector<uint8_t> placed_;  // not vector<bool>: read in every inner loop
  std::vector<int64_t> least_;   // least offset of each block still to place
  std::vector<int64_t> offset_;
  std::vector<int64_t> height_;                       // per clique: sum of the sizes still to place
  std::vector<std::pair<uint32_t, int64_t>> raises_;  // to undo: block, its least offset before
  std::vector<uint32_t> members_;                     // a stack of parts, each in the order of first_clique
  std::vector<uint64_t> changed_;                     // bit per clique: to look at in within_bounds
  std::vector<std::pair<int64_t, int64_t>> high_;     // scratch of within_bound
  std::vector<int64_t> state_;                        // scratch of solve
  InfeasibleStates infeasible_;
  int64_t infeasible_capacity_ = 0;  // the least capacity of those in infeasible_
};

}  // namespace vellum::planner::detail

// Remembers the subproblems that the offset search has shown to be infeasible.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace vellum::planner::detail {

// A subproblem is a capacity and a set of tensors, each with the least offset that it can still have. If a
// subproblem is infeasible, so are those with larger offsets or a smaller capacity.
class InfeasibleStates {
 public:
  // Returns whether a state with the same tensors and no larger offsets is known. Tensors and offsets are in
  // one fixed order.
  bool covers(std::span<const uint32_t> tensors, std::span<const int64_t> offsets) const;
  void add(std::span<const uint32_t> tensors, std::span<const int64_t> offsets);
  void clear();

 private:
  struct Tensors {
    std::vector<uint32_t> tensors;
    std::vector<std::vector<int64_t>> offsets;  // the newest last
  };
  static constexpr size_t kPerSet = 8;
  // The largest number of stored offsets (32 MiB). When it is reached, all states are dropped.
  static constexpr size_t kNumbers = size_t{1} << 22;

  std::unordered_map<uint64_t, Tensors> states_;  // by a hash of the tensors
  size_t numbers_ = 0;
};

}  // namespace vellum::planner::detail

#include "infeasible_states.hpp"

#include <algorithm>

#include "../mix.hpp"

namespace vellum::planner::detail {
namespace {

uint64_t hash_of(std::span<const uint32_t> tensors) {
  uint64_t hash = tensors.size();
  for (const uint32_t tensor : tensors) hash ^= mix(tensor);
  return hash;
}

}  // namespace

bool InfeasibleStates::covers(std::span<const uint32_t> tensors, std::span<const int64_t> offsets) const {
  const auto found = states_.find(hash_of(tensors));
  if (found == states_.end() || !std::ranges::equal(found->second.tensors, tensors)) return false;
  return std::ranges::any_of(found->second.offsets, [&](const std::vector<int64_t>& known) {
    return std::equal(known.begin(), known.end(), offsets.begin(), std::less_equal<>());
  });
}

void InfeasibleStates::add(std::span<const uint32_t> tensors, std::span<const int64_t> offsets) {
  if (numbers_ > kNumbers) clear();
  Tensors& set = states_[hash_of(tensors)];
  if (set.tensors.empty()) {
    set.tensors.assign(tensors.begin(), tensors.end());
    numbers_ += tensors.size();
  }
  if (!std::ranges::equal(set.tensors, tensors)) return;  // two sets with one hash: the first stays
  if (set.offsets.size() == kPerSet) {
    set.offsets.erase(set.offsets.begin());
  } else {
    numbers_ += tensors.size();
  }
  set.offsets.emplace_back(offsets.begin(), offsets.end());
}

void InfeasibleStates::clear() {
  states_.clear();
  numbers_ = 0;
}

}  // namespace vellum::planner::detail

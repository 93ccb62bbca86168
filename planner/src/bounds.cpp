#include "bounds.hpp"

#include <algorithm>
#include <numeric>

#include "orders.hpp"
#include "task_axis.hpp"
#include "trees.hpp"

namespace vellum::planner {
namespace detail {

// Add the tensors largest first. The tensor with which i tensors are live at some task for the first time has
// the size of the i-th positional maximum: with a larger threshold at most i-1 are live at any task. O(n log
// n).
std::vector<uint64_t> positional_maxima(const RecordClass& records) {
  const TaskAxis axis(records.items);
  RangeAddMax live(axis.size());
  std::vector<uint64_t> maxima;
  for (const uint32_t i : by_size(records.items)) {
    const Item& item = records.items[i];
    live.add(axis.first(item), axis.last(item), 1);
    if (static_cast<size_t>(live.max()) > maxima.size()) maxima.push_back(item.bytes);
  }
  return maxima;
}

// Sums over kinds and formats, because tensors of different classes never share an object. Within a class an
// object has at least the bytes of each tensor it carries, whatever dimension it grew in, so the bound on
// bytes holds for textures too.
uint64_t objects_lower_bound(const std::vector<RecordClass>& classes) {
  uint64_t bound = 0;
  for (const RecordClass& records : classes) {
    const auto maxima = positional_maxima(records);
    bound += std::accumulate(maxima.begin(), maxima.end(), uint64_t{0});
  }
  return bound;
}

uint64_t offsets_lower_bound(const RecordClass& records) {
  const auto breadth = breadths(records.items);
  return breadth.empty() ? 0 : *std::max_element(breadth.begin(), breadth.end());
}

}  // namespace detail

uint64_t naive_bytes(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  uint64_t sum = 0;
  for (const detail::Item& item : detail::as_bytes(records, options).items) sum += item.bytes;
  return sum;
}

uint64_t objects_lower_bound(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  return detail::objects_lower_bound(detail::classify(records, options));
}

uint64_t offsets_lower_bound(std::span<const TensorUsageRecord> records, const PlanOptions& options) {
  return detail::offsets_lower_bound(detail::as_bytes(records, options));
}

}  // namespace vellum::planner

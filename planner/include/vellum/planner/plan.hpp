// What the planner gives back, and the functions that make it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/planner/records.hpp"

namespace vellum::planner {

// The only exception of this library: bad records, an unknown strategy, or a plan that fails validation.
class PlanError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Shared objects: tensors whose lifetimes do not meet may share one object.
struct ObjectPlan {
  std::vector<uint32_t> object_of;  // per record: index into `objects`
  std::vector<Size> objects;        // each covers, in every dimension and in format, the tensors it carries
  uint64_t total_bytes = 0;         // sum over objects, each rounded up to the alignment
  uint64_t lower_bound = 0;         // no plan for these records and options is smaller
  bool proved_optimal = false;      // total_bytes == lower_bound
};

// Offsets: every tensor at its own place in one arena. Sizes are bytes only: what a texture takes inside an
// arena is known to the device alone, so ask it and plan with those bytes.
struct OffsetPlan {
  std::vector<uint64_t> offset_of;  // per record
  uint64_t total_bytes = 0;         // end of the highest tensor, rounded up to the alignment
  uint64_t lower_bound = 0;         // no plan for these records and options is smaller
  bool proved_optimal = false;      // total_bytes == lower_bound
};

struct PlanOptions {
  uint64_t alignment = 1;  // a power of two; sizes are rounded up to it, and offsets are multiples of it
  // For the strategies `exact` and `best`: how long to search for a smaller plan, or a proof that there is
  // none. 0: do not search. The search counts steps rather than time, so that it ends with the same plan
  // every time; a current machine takes less than the budget, and at four times the budget the clock ends it
  // on any.
  std::chrono::milliseconds search_budget{0};
  uint64_t target_bytes = 0;  // the search ends once the total is at or below this
  // Bytes of memory that a buffer or texture of this size takes on the device, padding included; must not
  // fall as a dimension grows. Null: byte_size(). Rounded up to the alignment either way.
  std::function<uint64_t(const Size&)> object_bytes;
};

enum class ObjectStrategy {
  naive,
  equality,
  greedy_in_order,
  greedy_by_size,
  greedy_by_size_improved,
  greedy_by_breadth,
  min_cost_flow,
  exact,
  best
};
enum class OffsetStrategy {
  naive,
  greedy_in_order,
  greedy_by_size,
  greedy_by_breadth,
  strip_packing_best_fit,
  exact,
  best
};

std::string_view name(ObjectStrategy);
std::string_view name(OffsetStrategy);
std::span<const ObjectStrategy>
all_object_strategies();  // in the order of the table in the docs; `best` last
std::span<const OffsetStrategy> all_offset_strategies();
// The most records that the strategy takes: some look at every pair. More throw PlanError; `best` and `exact`
// leave such a strategy out.
size_t most_records(ObjectStrategy);
ObjectStrategy object_strategy_from_name(std::string_view);  // throws PlanError that lists the names
OffsetStrategy offset_strategy_from_name(std::string_view);

// Deterministic: the same records and options give the same plan. Throws PlanError naming the record where
// records are bad: negative tasks, the last task before the first, size zero, sizes whose sum does not fit 64
// bits, a texture in an offset plan; and where the alignment is not a power of two.
ObjectPlan plan_objects(std::span<const TensorUsageRecord> records, ObjectStrategy strategy,
                        const PlanOptions& options = {});
OffsetPlan plan_offsets(std::span<const TensorUsageRecord> records, OffsetStrategy strategy,
                        const PlanOptions& options = {});

// Sum of all tensors: what it costs when nothing is shared.
uint64_t naive_bytes(std::span<const TensorUsageRecord> records, const PlanOptions& options = {});
// Sum of positional maxima (Pisarchyk & Lee 2020, section 3), over kinds and texel formats: no shared-objects
// plan can be smaller.
uint64_t objects_lower_bound(std::span<const TensorUsageRecord> records, const PlanOptions& options = {});
// Largest operator breadth, the bytes live at one task: no offsets plan can be smaller.
uint64_t offsets_lower_bound(std::span<const TensorUsageRecord> records, const PlanOptions& options = {});

// Throws PlanError naming the records that clash. Written apart from the strategies: shares no code with
// them.
void validate(std::span<const TensorUsageRecord> records, const ObjectPlan& plan,
              const PlanOptions& options = {});
void validate(std::span<const TensorUsageRecord> records, const OffsetPlan& plan,
              const PlanOptions& options = {});

}  // namespace vellum::planner

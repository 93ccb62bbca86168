// Memory plans for tensor usage records: the strategies, the plans that they return, lower bounds,
// validation.
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

// The only exception that this library throws: bad records, an unknown strategy, or a plan that fails
// validation.
class PlanError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Shared memory objects: tensors whose lifetimes do not overlap may share one image or buffer.
//
//   object 1 |       D D     D made the object larger than B needs
//            |   B B D D
//   object 0 | A A C C E E
//            +-------------> task
struct ObjectPlan {
  std::vector<uint32_t> object_of;  // per record: index into `objects`
  std::vector<Size> objects;        // each covers its tensors in every dimension, and has their format
  uint64_t total_bytes = 0;         // sum over objects, each rounded up to the alignment
  uint64_t lower_bound = 0;         // no plan for these records and options is smaller
  bool proved_optimal = false;      // total_bytes == lower_bound
  // Per record: its size, or the first of its other extents that its object covers.
  std::vector<Size> size_of = {};
};

// Offsets: every tensor has its own offset in one arena. Sizes are bytes only. Only the device knows the
// bytes that a texture needs inside an arena, so query them and plan with bytes.
//
//   byte | A A   D D
//        | A A C C C
//        |   B B   E E
//        +-------------> task
struct OffsetPlan {
  std::vector<uint64_t> offset_of;  // per record
  uint64_t total_bytes = 0;         // end of the highest tensor, rounded up to the alignment
  uint64_t lower_bound = 0;         // no plan for these records and options is smaller
  bool proved_optimal = false;      // total_bytes == lower_bound
};

// Constraints of plans besides the records, and limits of the search for them.
struct PlanOptions {
  uint64_t alignment = 1;  // a power of two; sizes are rounded up to it, and offsets are multiples of it
  // For the strategies `exact` and `best`: the wall time to search for a smaller plan, or for a proof that
  // there is none. 0: no search. The search also ends after a fixed number of steps, which an idle current
  // machine does in less time. On such a machine the same input gives the same plan.
  std::chrono::milliseconds search_budget{0};
  uint64_t target_bytes = 0;  // the search ends once the total is at or below this
  // Returns the bytes that a buffer or texture of this size takes on the device, padding included. The result
  // must not decrease as a dimension grows. It is rounded up to the alignment. Null: byte_size().
  std::function<uint64_t(const Size&)> object_bytes;
};

// The strategies; docs/planner.md describes each.
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
// All strategies, in the order of the table in docs/planner.md; `best` is the last.
std::span<const ObjectStrategy> all_object_strategies();
std::span<const OffsetStrategy> all_offset_strategies();
// Returns the largest number of records that the strategy accepts, because some strategies compare every
// pair. plan_objects() throws PlanError for more records; `best` and `exact` then skip the strategy.
size_t most_records(ObjectStrategy);
ObjectStrategy object_strategy_from_name(std::string_view);  // throws PlanError, which lists the names
OffsetStrategy offset_strategy_from_name(std::string_view);

// Plans the records with one strategy. Deterministic, except for a search that the time limit ends. Throws
// PlanError, which names the record, for negative tasks, a last task before the first, size zero, sizes whose
// sum exceeds 64 bits, and a texture in an offset plan. Throws PlanError for an alignment that is not a power
// of two.
ObjectPlan plan_objects(std::span<const TensorUsageRecord> records, ObjectStrategy strategy,
                        const PlanOptions& options = {});
OffsetPlan plan_offsets(std::span<const TensorUsageRecord> records, OffsetStrategy strategy,
                        const PlanOptions& options = {});

// The sum of all tensors: the bytes when nothing is shared.
uint64_t naive_bytes(std::span<const TensorUsageRecord> records, const PlanOptions& options = {});
// The sum of positional maxima (Pisarchyk & Lee 2020, section 3), summed over kinds and texel formats: no
// plan of shared objects can be smaller.
uint64_t objects_lower_bound(std::span<const TensorUsageRecord> records, const PlanOptions& options = {});
// The largest operator breadth, which is the bytes live at one task: no plan of offsets can be smaller.
uint64_t offsets_lower_bound(std::span<const TensorUsageRecord> records, const PlanOptions& options = {});

// Checks a plan against its records. Throws PlanError, which names the records that conflict. Shares no code
// with the strategies.
void validate(std::span<const TensorUsageRecord> records, const ObjectPlan& plan,
              const PlanOptions& options = {});
void validate(std::span<const TensorUsageRecord> records, const OffsetPlan& plan,
              const PlanOptions& options = {});

}  // namespace vellum::planner

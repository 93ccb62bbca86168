// When each weight of a program must be on the device, and where, if all of them together may take no more
// than a budget. Needs no device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "program/weights.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {

// A weight as the plan sees it: what it takes of device memory and which tasks read it.
struct WeightUse {
  uint64_t bytes = 0, alignment = 1;  // alignment: a power of two
  int64_t first_task = 0, last_task = 0;
  std::string layer;  // for errors: the first that reads it
};

// The weights that the tasks of a program read, equal ones once.
struct WeightUses {
  std::vector<TensorId> tensors;  // the first of those that are equal
  std::vector<std::string> keys;  // weight_key() of each
  std::vector<WeightUse> uses;
  std::map<TensorId, uint32_t> of_tensor;  // index into these
  uint32_t memory_types = UINT32_MAX;      // that suit all
};

// `need`: of a weight's image or buffer, asked once for each of `tensors` in their order. `granularity`: what
// must lie between an image and a buffer.
WeightUses weight_uses(const Program& program, const FixedConstants& constants,
                       const std::function<MemoryNeed(TensorId)>& need, uint64_t granularity);

// Tasks between the loads. What a segment loads is there before its first task; it may be copied as soon as
// segment `free_after` has run.
struct WeightSegment {
  int64_t first_task = 0;
  std::vector<uint32_t> loads;  // indices into the uses
  int64_t free_after = -1;      // -1: at any time, even before the first segment
};

struct WeightStreamPlan {
  uint64_t total_bytes = 0;             // of the one arena
  std::vector<uint64_t> offset_of;      // per use
  std::vector<bool> pinned;             // per use: there for good, loaded once
  std::vector<WeightSegment> segments;  // the first begins with task 0
  uint64_t streamed_bytes = 0;          // loaded in every inference
};

// As many weights as possible are pinned, small ones first or large ones first, whatever leaves less to load;
// the others share the rest. Where the budget allows, a segment's weights are loaded during the segment
// before it, else only when that has ended.
// Error(out_of_memory) where no plan is found: names the layer, its bytes and a budget that would do.
WeightStreamPlan plan_weight_stream(std::span<const WeightUse> uses, int64_t task_count, uint64_t budget);

// plan_weight_stream() succeeds with this budget: about the weights of the task that needs most.
uint64_t sufficient_weights_budget(std::span<const WeightUse> uses);

}  // namespace vellum

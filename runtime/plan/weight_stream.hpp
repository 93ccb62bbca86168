// Plans when and where each weight of a program is on the device, if all weights together must not exceed a
// budget (docs/streaming.md). Needs no device.
//
//   budget +---------------------+
//          |      w2 w2 w2       |   w2 is copied while segment 1 runs and read in segments 2 and 3
//          |   w1 w1    w4 w4    |
//          | pinned weights      |
//        0 +-0--1--2--3--4--5----+-> segment
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "plan/memory_plan.hpp"
#include "program/program.hpp"
#include "program/weights.hpp"

namespace vellum {

// A weight in the planning problem: its device memory in bytes, and the tasks that read it.
struct WeightUse {
  uint64_t bytes = 0, alignment = 1;  // alignment: a power of two
  int64_t first_task = 0, last_task = 0;
  std::string layer;  // the first layer that reads it, for error messages
};

// The weights that the tasks of a program read; equal weights are one entry.
struct WeightUses {
  std::vector<TensorId> tensors;  // the first of each group of equal weights
  std::vector<std::string> keys;  // weight_key() of each group
  std::vector<WeightUse> uses;
  std::map<TensorId, uint32_t> of_tensor;  // index into the vectors above
  uint32_t memory_types = UINT32_MAX;      // a bit for each memory type that suits all
};

// Collects the weights of a program. `need` returns the memory of a weight's image or buffer; it is called
// once for each of the result's `tensors`, in their order. `granularity`:
// MemoryRules::buffer_image_granularity.
WeightUses weight_uses(const Program& program, const FixedConstants& constants,
                       const std::function<MemoryNeed(TensorId)>& need, uint64_t granularity);

// Consecutive tasks whose weights are loaded together: one submit. Its loads are on the device before its
// first task.
struct WeightSegment {
  int64_t first_task = 0;
  std::vector<uint32_t> loads;  // indices into the uses
  int64_t free_after = -1;      // the loads may be copied after this segment has run; -1: at any time
};

// When each weight is loaded, and to which offset of the arena.
struct WeightStreamPlan {
  uint64_t total_bytes = 0;             // size of the arena, at most the budget
  std::vector<uint64_t> offset_of;      // per use
  std::vector<bool> pinned;             // per use: loaded once, stays on the device
  std::vector<WeightSegment> segments;  // the first begins with task 0
  uint64_t streamed_bytes = 0;          // bytes that are loaded in every inference
};

// Plans the stream. As many weights as possible are pinned, small ones first or large ones first, whichever
// leaves less to load. The others share the rest of the arena. A segment's weights are loaded during the
// previous segment if the budget permits, otherwise after it has ended. If no plan is found, throws
// Error(out_of_memory), which names the layer, its bytes and a sufficient budget.
WeightStreamPlan plan_weight_stream(std::span<const WeightUse> uses, int64_t task_count, uint64_t budget);

// Returns a budget with which plan_weight_stream() succeeds: about the weights of the most demanding task.
uint64_t sufficient_weights_budget(std::span<const WeightUse> uses);

}  // namespace vellum

// The memory planning of a model without a device: the tensor usage records that plan_objects() and
// plan_offsets() of vellum/planner/plan.hpp take, and the plan that a session would use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vellum/caps.hpp"
#include "vellum/planner/records.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

struct TensorUsage {
  std::vector<std::string> tensors;  // the name of each record
  // Intermediate and workspace tensors. Sizes are bytes for tensors in buffers, texels for tensors in images.
  std::vector<planner::TensorUsageRecord> records;
  // Returns the bytes that an image or buffer of this size takes on the device. Use it as
  // PlanOptions::object_bytes.
  std::function<uint64_t(const planner::Size&)> object_bytes;
  // Records of the same tensors for plans of offsets in an arena. Sizes are bytes with the device's padding;
  // offsets are multiples of offset_alignment.
  std::vector<planner::TensorUsageRecord> arena_records;
  uint64_t offset_alignment = 1;
  // A proved lower bound for all orders of the program's tasks: no plan of any order needs fewer bytes. The
  // session's own order may need more.
  uint64_t any_order_bound = 0;
};

// Returns the tensor usage records of the program that a session with these options runs. (Memory mode,
// strategy and tasks_per_submit do not matter.) The device reports sizes in memory; without a device they are
// modelled for the Android Baseline 2022 profile.
VELLUM_API TensorUsage tensor_usage(const Model& model, const SessionOptions& options = {},
                                    const Device* device = nullptr);

VELLUM_API TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Caps& caps);

// Returns the memory plan of a session with these options: the report of Session::memory(), without weights,
// inputs and outputs.
VELLUM_API MemoryReport planned_memory(const Model& model, const SessionOptions& options = {},
                                       const Device* device = nullptr);
VELLUM_API MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Caps& caps);

}  // namespace vellum

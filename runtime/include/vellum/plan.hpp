// What memory planning sees of a model, without loading it onto a device. plan_objects() and plan_offsets()
// of vellum/planner/plan.hpp take it from there.
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
  std::vector<std::string> tensors;  // a name per record
  // Intermediate and workspace tensors: bytes where a buffer holds them, else texels.
  std::vector<planner::TensorUsageRecord> records;
  // Bytes of an image or buffer of that size on the device: PlanOptions::object_bytes.
  std::function<uint64_t(const planner::Size&)> object_bytes;
  // The same tensors as they lie in an arena: bytes, padding of the device included, and the alignment of
  // offsets.
  std::vector<planner::TensorUsageRecord> arena_records;
  uint64_t offset_alignment = 1;
};

// The tensor usage records of the program that a session with these options runs (memory mode, strategy and
// submits do not matter). Sizes on the device are its own answers; without a device they are modelled, and
// its limits are those of the Android Baseline 2022 profile.
VELLUM_API TensorUsage tensor_usage(const Model& model, const SessionOptions& options = {},
                                    const Device* device = nullptr);

VELLUM_API TensorUsage tensor_usage(const Model& model, const SessionOptions& options, const Caps& caps);

// Where a session's tensors would lie: Session::memory() without a session, weights, inputs and outputs not counted.
VELLUM_API MemoryReport planned_memory(const Model& model, const SessionOptions& options = {},
                                       const Device* device = nullptr);
VELLUM_API MemoryReport planned_memory(const Model& model, const SessionOptions& options, const Caps& caps);

}  // namespace vellum

// What memory planning sees of a model, without loading it onto a device. plan_objects() and plan_offsets() of
// vellum/planner/plan.hpp take it from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vellum/planner/records.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

struct TensorUsage {
  std::vector<std::string> tensors;  // a name per record
  // Intermediate and workspace tensors: bytes where a buffer holds them, else texels.
  std::vector<planner::TensorUsageRecord> records;
  uint64_t object_alignment = 1;  // bytes: what sessions round shared buffers up to
  uint64_t offset_alignment = 1;  // bytes: where the device lets a storage buffer begin inside another
};

// The tensor usage records of the program that a session with these options runs (memory mode, strategy and submits
// do not matter). Without a device its limits are those of the Android Baseline 2022 profile.
VELLUM_API TensorUsage tensor_usage(const Model& model, const SessionOptions& options = {},
                                    const Device* device = nullptr);

}  // namespace vellum

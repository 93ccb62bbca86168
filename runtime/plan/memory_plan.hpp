// Program -> which intermediate tensors share which object. Needs no device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/program.hpp"
#include "vellum/options.hpp"
#include "vellum/planner/plan.hpp"

namespace vellum {

std::string_view name(MemoryMode mode);

// First and last task, both inclusive, of each tensor's memory. Aliases share the life of their root; tensors that no
// task touches, weights, inputs and outputs have no lifetime (first > last).
struct Lifetime {
  int64_t first = 0, last = -1;
  bool planned() const { return first <= last; }
};
std::vector<Lifetime> lifetimes(const Program& program);

// The records that the planner sees, and the tensor (a root) that each stands for, in order of tensor id.
struct UsageRecords {
  std::vector<planner::TensorUsageRecord> records;
  std::vector<TensorId> tensors;
};
UsageRecords usage_records(const Program& program);

// One device image or buffer that carries tensors whose lifetimes do not meet.
struct SharedObject {
  Storage kind = Storage::buffer;
  ElementType element = ElementType::f32;  // of images: their texel format
  Extent3 extent;                          // texels; images only
  uint64_t bytes = 0;                      // without padding of the device
  std::vector<TensorId> tensors;           // in order of first use
};

inline constexpr uint32_t kNoObject = UINT32_MAX;
// Bytes that shared buffers are rounded up to: a vec4, what every kernel may read or write at once.
inline constexpr uint64_t kBufferAlignment = 16;

struct MemoryPlan {
  MemoryMode mode = MemoryMode::shared_objects;
  std::string strategy;
  std::vector<SharedObject> objects;
  std::vector<uint32_t> object_of;  // per tensor of the program (aliases too); kNoObject where not planned
  std::vector<Lifetime> lifetimes;  // per tensor
  uint64_t naive_bytes = 0, planned_bytes = 0;
  uint64_t lower_bound_bytes = 0;   // no assignment to shared objects is smaller
};

// Validated before it is returned. `alignment` in bytes, of buffer objects.
MemoryPlan plan_memory(const Program& program, MemoryMode mode, planner::ObjectStrategy strategy, uint64_t alignment);

// One line per object: what `vellum inspect --stage plan` prints.
std::string to_text(const MemoryPlan& plan, const Program& program);

}  // namespace vellum

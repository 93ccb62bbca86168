// Reports of a session's memory and time, as plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vellum {

// One device image or buffer. In memory mode `shared-objects` it holds several tensors in turn. In mode
// `offsets` it holds one tensor and may alias other objects in its arena.
struct ObjectReport {
  uint32_t id = 0;
  std::string kind;                  // "image2d", "image3d", "buffer"
  std::array<uint32_t, 3> extent{};  // texels: width, height, depth; images only
  std::string format;                // "rgba32f", "rgba16f", "rgba8ui"; empty for buffers
  uint64_t bytes = 0;                // of device memory, padding included
  uint32_t arena = 0;                // index into MemoryReport::arenas
  uint64_t arena_offset = 0;         // bytes from the start of that arena
  uint32_t reuse_count = 0;          // tensors that it holds in one inference
  std::vector<std::string> tensors;  // in order of first use
};

// One intermediate or workspace tensor, and its memory. Tasks are indices into Session::layer_times().
struct TensorReport {
  std::string name, op;  // op: operator type of the first task that writes the tensor
  std::string role;      // "intermediate", "workspace"
  std::vector<int64_t> shape;
  uint32_t object = 0;                    // index into MemoryReport::objects
  uint64_t offset = 0;                    // bytes from the start of that object
  int64_t first_task = 0, last_task = 0;  // lifetime, both inclusive
  uint64_t bytes = 0;                     // without device padding
};

struct MemoryReport {
  std::vector<ObjectReport> objects;
  std::vector<TensorReport> tensors;
  std::vector<uint64_t> arenas;  // bytes of each allocation in which objects are placed
  std::string mode;              // "shared-objects", "offsets", "naive"
  std::string strategy;
  uint64_t naive_bytes = 0;             // bytes if every intermediate tensor had memory of its own
  uint64_t planned_bytes = 0;           // the sum of the arenas
  uint64_t lower_bound_bytes = 0;       // no plan of this mode can be smaller
  uint64_t allocated_bytes = 0;         // intermediates of all runs in flight, allocated from Vulkan
  uint64_t weights_bytes = 0;           // weights, allocated from Vulkan
  uint64_t peak_weights_bytes = 0;      // the peak of weights_bytes
  uint64_t total_weights_bytes = 0;     // all weights, even if they stream, without padding
  uint64_t streamed_weights_bytes = 0;  // weights copied to the device in every run; 0 if none stream
  uint64_t in_out_bytes = 0;            // inputs and outputs, allocated from Vulkan
  uint64_t state_bytes = 0;             // states of the session, allocated from Vulkan
  uint32_t in_flight = 1;               // runs in flight; each has its own objects
  // SessionOptions::memory_budget, and the bytes that the session has allocated from Vulkan, now and at the
  // peak, staging included. 0 without a budget.
  uint64_t memory_budget = 0, budget_used_bytes = 0, budget_peak_bytes = 0;
};

struct LayerTime {
  std::string name;                      // of the node
  std::string op;                        // operator type; "Convert" for a layout conversion
  std::string shader;                    // empty: ran on the host
  std::string storage;                   // storage of its output: "image2d", "image3d", "buffer"
  std::array<uint32_t, 3> workgroups{};  // dispatched; 0 on the host
  double gpu_ms = 0;                     // NaN if the device has no timestamps, and on the host
  double begin_ms = 0;                   // begin, relative to the first task's begin; NaN as gpu_ms
};

}  // namespace vellum

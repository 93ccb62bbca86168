// What a session tells about its memory and time: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vellum {

// One device image or buffer. In memory mode `offsets` it is one tensor's own, over others in the same arena;
// else intermediate tensors share it.
struct ObjectReport {
  uint32_t id = 0;
  std::string kind;                  // "image2d", "image3d", "buffer"
  std::array<uint32_t, 3> extent{};  // texels: width, height, depth; images only
  std::string format;                // "rgba32f", "rgba16f"; empty for buffers
  uint64_t bytes = 0;                // of device memory, its padding included
  uint32_t arena = 0;                // index into MemoryReport::arenas
  uint64_t arena_offset = 0;         // bytes from the begin of that arena
  uint32_t reuse_count = 0;          // tensors that it carries in one inference
  std::vector<std::string> tensors;  // in order of first use
};

// One intermediate or workspace tensor, and where its memory lies. Tasks count as Session::layer_times()
// does.
struct TensorReport {
  std::string name, op;  // op: operator type of the task that writes it first
  std::string role;      // "intermediate", "workspace"
  std::vector<int64_t> shape;
  uint32_t object = 0;                    // index into MemoryReport::objects
  uint64_t offset = 0;                    // bytes from the begin of that object
  int64_t first_task = 0, last_task = 0;  // both inclusive
  uint64_t bytes = 0;                     // without padding of the device
};

struct MemoryReport {
  std::vector<ObjectReport> objects;
  std::vector<TensorReport> tensors;
  std::vector<uint64_t> arenas;  // bytes of each allocation that objects lie in
  std::string mode;              // "shared-objects", "offsets", "naive"
  std::string strategy;
  uint64_t naive_bytes = 0;             // every intermediate tensor in memory of its own
  uint64_t planned_bytes = 0;           // sum over the arenas
  uint64_t lower_bound_bytes = 0;       // no plan of this mode can be smaller
  uint64_t allocated_bytes = 0;         // for intermediates of all runs in flight, as passed to vkAllocateMemory
  uint64_t weights_bytes = 0;           // likewise, for weights
  uint64_t peak_weights_bytes = 0;      // most of them at any time
  uint64_t total_weights_bytes = 0;     // of all weights, on the device at once or not, without padding
  uint64_t streamed_weights_bytes = 0;  // copied to the device in every run; 0 without a weights budget
  uint64_t in_out_bytes = 0;            // likewise, for inputs and outputs
  uint32_t in_flight = 1;               // runs that have objects of their own, as these are
};

struct LayerTime {
  std::string name;                      // of the node
  std::string op;                        // operator type; "Convert" for a change of layout
  std::string shader;                    // empty: ran on the host
  std::string storage;                   // of what it writes: "image2d", "image3d", "buffer"
  std::array<uint32_t, 3> workgroups{};  // dispatched; 0 on the host
  double gpu_ms = 0;                     // NaN where the device has no timestamps, and for host calls
  double begin_ms = 0;                   // when it began, after the begin of the first task; NaN likewise
};

}  // namespace vellum

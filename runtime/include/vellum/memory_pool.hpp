// Device memory that sessions share for their intermediate tensors.
#pragma once

#include <cstdint>
#include <memory>

#include "vellum/export.h"

namespace vellum {

class ArenaPool;
class Device;

// Decides whether a run may begin while another run of the same pool is under way (submitted and not yet
// waited for).
enum class PoolOverlap : uint8_t {
  serialise,  // the device executes them one after the other
  refuse,     // Error(invalid_argument), for applications that want to know when their runs overlap
};

struct MemoryPoolOptions {
  PoolOverlap overlap = PoolOverlap::serialise;
};

// Memory for networks that run one after another, such as a detector, a landmark model and a segmentation for
// each frame. Sessions of one device with the same SessionOptions::memory_pool put their intermediate tensors
// into the same memory, which is as large as the most demanding session needs. Each session has its own
// inputs, outputs and weights. Results are the same bit for bit.
//
// The sessions may be used on different threads. Their runs do not overlap on the device. A run is submitted
// completely before the next one begins, so submit() of a network with operators on the host, or of a run
// that SessionOptions::max_submit_ms divides, returns after its last part is submitted. With in_flight above
// 1, the runs of one session share the pool's memory, too.
//
// If a session needs more memory than the pool has, the pool's memory is replaced: the other sessions free
// their objects in it and make them again at their next run, which takes milliseconds longer. To avoid that,
// make the largest session first. Copies are handles to the same pool, which lives as long as any handle or
// session. A default-constructed MemoryPool is not valid() and means: no pool.
class VELLUM_API MemoryPool {
 public:
  MemoryPool() = default;
  explicit MemoryPool(const Device& device, const MemoryPoolOptions& options = {});

  bool valid() const { return pool_ != nullptr; }
  // Returns the bytes of device memory that the pool has now; 0 if not valid(). Memory that was replaced but
  // that runs under way still use is not counted.
  uint64_t bytes() const;
  // Frees the memory; runs under way keep theirs until they have ended. The next run of a session allocates
  // it again.
  void trim() const;

 private:
  friend struct Handles;
  std::shared_ptr<ArenaPool> pool_;
};

}  // namespace vellum

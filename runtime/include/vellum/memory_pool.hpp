// Device memory that sessions share for their intermediate tensors.
#pragma once

#include <cstdint>
#include <memory>

#include "vellum/export.h"

namespace vellum {

class ArenaPool;
class Device;

// Decides what happens when a run begins while another run of the same pool is under way: submitted, and not
// yet waited for.
enum class PoolOverlap : uint8_t {
  serialise,  // the device does them one after the other
  refuse,     // Error(invalid_argument), for applications that want to know when their runs overlap
};

struct MemoryPoolOptions {
  PoolOverlap overlap = PoolOverlap::serialise;
};

// For networks that follow one another, such as a detector, a landmark model and a segmentation for each
// frame: sessions of one device with the same SessionOptions::memory_pool put their intermediate tensors in
// the same memory, as large as the session with the largest needs it. Inputs, outputs and weights stay each
// session's own; the results are the same bit for bit.
//
// The sessions may be used on different threads. Their runs do not overlap on the device. A run is handed to
// the device whole before the next one begins: submit() of a network with operators on the host, and of one
// that SessionOptions::max_submit_ms divides, takes until the last part is submitted. With in_flight above 1,
// the runs of a session share the pool's memory, too.
//
// When a session needs more than the pool has, the others free what they have in it, and come back at their
// next run, which then takes milliseconds longer. To avoid that, make the largest session first. Copies are
// handles to the same pool, which lives as long as any of them or a session. A default-constructed
// MemoryPool is none.
class VELLUM_API MemoryPool {
 public:
  MemoryPool() = default;
  explicit MemoryPool(const Device& device, const MemoryPoolOptions& options = {});

  bool valid() const { return pool_ != nullptr; }
  // The device memory that the pool has now; what runs under way still have of an earlier size is not
  // counted. 0 if not valid().
  uint64_t bytes() const;
  // Frees the memory, except what runs under way use until they have ended. It comes back with the next run
  // of a session.
  void trim() const;

 private:
  friend struct Handles;
  std::shared_ptr<ArenaPool> pool_;
};

}  // namespace vellum

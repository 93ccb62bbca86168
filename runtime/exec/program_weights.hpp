// The weights of a program on the device, as an executor uses them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "platform/progress.hpp"
#include "program/program.hpp"
#include "vulkan/descriptors.hpp"

namespace vellum::gpu {
class Arena;
class Semaphore;
}  // namespace vellum::gpu

namespace vellum {

// Copies weights to the device while the tasks run. The tasks are divided into segments; a segment begins at
// a task that needs other weights. An executor calls the functions in the order in which they are declared.
class WeightStream {
 public:
  // Reports how far the tasks have run.
  class Progress {
   public:
    virtual ~Progress() = default;
    virtual void wait_for(size_t segment) = 0;  // until the segment and all earlier ones have run
    virtual bool has_run(size_t segment) const = 0;
  };

  virtual ~WeightStream() = default;
  // Returns the first task of each segment, in order. Submits begin at these tasks. The first is 0.
  virtual std::vector<int64_t> segments() const = 0;

  virtual void begin_run() = 0;
  // Called before the first submit of the segment. Ensures that its weights are on the device or being
  // copied. Returns the semaphore that the next submit must wait for, or null.
  virtual const gpu::Semaphore* load(size_t segment, Progress& progress) = 0;
  // Called after the last submit of the segment. While the device is busy, copies weights of later segments
  // into memory that is free.
  virtual void load_ahead(size_t segment, Progress& progress) = 0;
  // Called after all tasks have run.
  virtual void end_run() = 0;
};

// Bytes of the weights of a program.
struct WeightBytes {
  uint64_t in_all = 0;    // all weights in their device layout, even if they stream
  uint64_t streamed = 0;  // copied to the device in every inference
};

class ProgramWeights {
 public:
  virtual ~ProgramWeights() = default;
  // Returns the descriptor of a weight. The tensor is a root (no view).
  virtual gpu::BoundResource resource(TensorId id) const = 0;
  // Returns the device memory of the weights. Other executors may use it, too.
  virtual std::vector<std::shared_ptr<gpu::Arena>> arenas() const = 0;
  // Returns null if all weights stay on the device.
  virtual WeightStream* stream() { return nullptr; }
  virtual WeightBytes bytes() const = 0;
};

// Provides executors with weights.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // Makes the weights of a program available. `program` must outlive the result. progress: may cancel the
  // call; may be null.
  virtual std::unique_ptr<ProgramWeights> acquire(const Program& program, const Progress* progress) = 0;
};

}  // namespace vellum

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

// Copies weights to the device while the tasks run. The tasks are divided into segments; a segment begins
// where other weights are needed. An executor calls the functions in the order in which they are declared.
class WeightStream {
 public:
  // The progress of the tasks.
  class Progress {
   public:
    virtual ~Progress() = default;
    virtual void wait_for(size_t segment) = 0;  // until its tasks and all earlier ones have run
    virtual bool has_run(size_t segment) const = 0;
  };

  virtual ~WeightStream() = default;
  // The first task of each segment, in order, where a submit begins. The first is 0.
  virtual std::vector<int64_t> segments() const = 0;

  virtual void begin_run() = 0;
  // Before the first submit of the segment: ensures that its weights are there or being copied. Returns the
  // semaphore that the next submit must wait for, or null.
  virtual const gpu::Semaphore* load(size_t segment, Progress& progress) = 0;
  // After the last submit of the segment: copies weights of later segments for which there is free memory, as
  // long as the device is busy.
  virtual void load_ahead(size_t segment, Progress& progress) = 0;
  // After all tasks have run.
  virtual void end_run() = 0;
};

// Bytes of the weights of a program.
struct WeightBytes {
  uint64_t in_all = 0;    // of all weights in their device layout, resident at the same time or not
  uint64_t streamed = 0;  // copied to the device in every inference
};

class ProgramWeights {
 public:
  virtual ~ProgramWeights() = default;
  // The descriptor of the weight, which is a root.
  virtual gpu::BoundResource resource(TensorId id) const = 0;
  // The device memory of the weights; other executors may use it too.
  virtual std::vector<std::shared_ptr<gpu::Arena>> arenas() const = 0;
  // Null if all weights are on the device all the time.
  virtual WeightStream* stream() { return nullptr; }
  virtual WeightBytes bytes() const = 0;
};

// Provides executors with weights.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // `program` must outlive the result. progress: may stop it; null: nobody watches.
  virtual std::unique_ptr<ProgramWeights> acquire(const Program& program, const Progress* progress) = 0;
};

}  // namespace vellum

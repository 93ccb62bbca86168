// Where an executor finds the weights of its program on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program/program.hpp"
#include "vulkan/descriptors.hpp"

namespace vellum::gpu {
class Arena;
class Semaphore;
}  // namespace vellum::gpu

namespace vellum {

// Brings weights to the device while the tasks run. The tasks are cut into segments, each beginning where
// other weights are needed; the functions are called in the order in which they stand here.
class WeightStream {
 public:
  // How far the tasks are.
  class Progress {
   public:
    virtual ~Progress() = default;
    virtual void wait_for(size_t segment) = 0;  // until its tasks and all before them have run
    virtual bool has_run(size_t segment) const = 0;
  };

  virtual ~WeightStream() = default;
  // The first task of each segment, in order; a submit begins there. The first is 0.
  virtual std::vector<int64_t> segments() const = 0;

  virtual void begin_run() = 0;
  // Before the first submit of the segment: its weights are there or on their way. What the next submit must
  // wait for, or null.
  virtual const gpu::Semaphore* load(size_t segment, Progress& progress) = 0;
  // After the last submit of the segment: what there is room for, as long as the device is busy.
  virtual void load_ahead(size_t segment, Progress& progress) = 0;
  // After everything has run.
  virtual void end_run() = 0;
};

// What the weights of a program take, in bytes.
struct WeightBytes {
  uint64_t in_all = 0;    // of all weights as they lie on the device, whether they are there at once or not
  uint64_t streamed = 0;  // copied to the device in every inference
};

class ProgramWeights {
 public:
  virtual ~ProgramWeights() = default;
  // What a shader binds to reach the weight, a root.
  virtual gpu::BoundResource resource(TensorId id) const = 0;
  // The device memory that the weights lie in; other executors may use it too.
  virtual std::vector<std::shared_ptr<gpu::Arena>> arenas() const = 0;
  // Null where all weights are there all the time.
  virtual WeightStream* stream() { return nullptr; }
  virtual WeightBytes bytes() const = 0;
};

// Where executors get their weights.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // `program` must outlive the result.
  virtual std::unique_ptr<ProgramWeights> acquire(const Program& program) = 0;
};

}  // namespace vellum

// Several runs of a network, one after another in the same command buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/executor.hpp"
#include "exec/recording.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/descriptors.hpp"

namespace vellum {

// Positions are those of Program::inputs and outputs. All of these ports have a tensor.
struct StepPorts {
  struct Feedback {
    size_t output = 0, input = 0;  // of equal byte size and element type on the device
  };
  std::vector<Feedback> feedback;
  std::vector<size_t> inputs, outputs;  // with a value for each step
  std::optional<size_t> end_output;     // of 32-bit integers
  std::vector<int32_t> end_values;
};

// The dispatch after each step that ends the loop, and its buffer (kernels/movement/step_end.hpp).
class StepEnd {
 public:
  StepEnd(const Executor& executor, const Port& output, std::span<const int32_t> end_values);

  // Prepares the buffer for a run, which must not be under way.
  void reset() const;
  // Records the dispatch, and the barriers before and after it.
  void record(gpu::CommandBuffer& commands) const;
  IndirectCounts counts() const;
  // After a submit with a barrier to the host.
  uint32_t steps() const;
  bool has_ended() const;

 private:
  uint32_t word(size_t index) const;

  std::vector<uint32_t> initial_;
  uint32_t first_workgroup_count_;
  gpu::Buffer control_;
  Dispatch dispatch_;
  Pipelines pipeline_;  // a single pipeline
  gpu::DescriptorSets sets_;
};

// It shares memory with the executor as a RecordedNetwork does. One thread at a time.
class RecordedSteps {
 public:
  // Requires a network that check_recordable() accepts, and steps_per_submit > 0.
  RecordedSteps(Executor& executor, StepPorts ports, uint32_t steps, uint32_t steps_per_submit);
  ~RecordedSteps();

  const RecordedNetwork& network() const { return network_; }
  uint32_t steps() const { return steps_; }
  const StepPorts& ports() const { return ports_; }
  // Sets the values of ports().inputs[i] for all steps.
  void set_input(size_t i, const HostTensor& values);
  // Throws Error(invalid_argument) for an input without values.
  void check_inputs() const;

  // Runs the steps. progress: called between submits with the number of steps done; false stops the run.
  void run(const std::function<bool(uint32_t)>& progress);
  // How many steps the last run took, and whether an end value ended it.
  uint32_t steps_done() const;
  bool has_ended() const { return end_ && end_->has_ended(); }
  // Returns the values of ports().outputs[i] after each of these steps.
  HostTensor output(size_t i) const;

 private:
  // The values of one input or output for each step, one after another.
  struct Values {
    const Port* port;
    uint64_t bytes;  // of a step
    gpu::Buffer buffer;
    bool is_set = false;
  };
  struct Submit {
    gpu::CommandBuffer commands;
    gpu::Fence fence;
  };

  std::vector<Values> make_values(const Executor& executor, std::span<const size_t> positions, bool outputs);
  const gpu::Buffer& buffer_of(const Port& port) const;
  void record(gpu::CommandBuffer& commands, uint32_t step) const;
  std::vector<Submit> recorded() const;
  void submit_and_wait(const std::function<bool(uint32_t)>& progress);
  void finish_submitted();

  StepPorts ports_;
  uint32_t steps_, steps_per_submit_;
  RecordedNetwork network_;
  std::vector<Values> inputs_, outputs_;
  std::optional<StepEnd> end_;
  std::vector<Submit> submits_;  // recorded by the first run
  size_t done_ = 0;              // submits of the last run
};

}  // namespace vellum

// The device objects of an executor: a buffer or image for every tensor of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/device_slot.hpp"
#include "exec/program_weights.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {

// Bytes that were passed to vkAllocateMemory, by purpose.
struct AllocatedBytes {
  uint64_t intermediates = 0, weights = 0, in_out = 0;
};

// The requirements that the device itself reports.
MemoryRules device_rules(const std::shared_ptr<gpu::Context>& context);

class DeviceTensors {
 public:
  // Creates and binds inputs and outputs.
  DeviceTensors(std::shared_ptr<gpu::Context> context, const Program& program, const MemoryPlan& plan);
  // Adds the weights and creates everything else. By then the staging memory of their upload is free.
  void complete(std::unique_ptr<ProgramWeights> weights);

  // The memory of an input or an output; null if there is none.
  std::shared_ptr<gpu::Arena> in_out_arena() const;

  // The descriptor of the tensor.
  gpu::BoundResource resource(TensorId id) const;
  // The buffer of an input, an output or a buffer intermediate.
  const gpu::Buffer& buffer(TensorId id) const;
  const gpu::Image& object_image(uint32_t object) const;
  const AllocatedBytes& allocated() const { return allocated_; }
  ProgramWeights& weights() const { return *weights_; }

 private:
  void make_objects();
  void make_inputs_and_outputs();
  const DeviceSlot& slot(TensorId id) const;

  std::shared_ptr<gpu::Context> context_;
  const Program& program_;
  const MemoryPlan& plan_;
  std::unique_ptr<ProgramWeights> weights_;
  std::vector<DeviceSlot> objects_;  // per shared object
  std::vector<DeviceSlot> own_;      // per tensor: inputs, outputs
  AllocatedBytes allocated_;
};

}  // namespace vellum

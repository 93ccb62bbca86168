// The device objects of a session: every tensor of a Program gets the buffer or image it lives in.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/device_slot.hpp"
#include "exec/program_weights.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {

// Bytes as passed to vkAllocateMemory, by what they are for.
struct AllocatedBytes {
  uint64_t intermediates = 0, weights = 0, in_out = 0;
};

// What the device itself says.
MemoryRules device_rules(const std::shared_ptr<gpu::Context>& context);

class DeviceTensors {
 public:
  // Makes and binds inputs and outputs.
  DeviceTensors(std::shared_ptr<gpu::Context> context, const Program& program, const MemoryPlan& plan);
  // The weights as they are, and then everything else: what uploading them took is free by then.
  void complete(std::unique_ptr<ProgramWeights> weights);

  // Of an input or an output; null if there is none.
  std::shared_ptr<gpu::Arena> in_out_arena() const;

  // What a shader binds to reach the tensor.
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

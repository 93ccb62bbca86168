// The device objects of a session: every tensor of a Program gets the buffer or image it lives in.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/memory_plan.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/image.hpp"

namespace vellum {

// Bytes as passed to vkAllocateMemory, by what they are for.
struct AllocatedBytes {
  uint64_t intermediates = 0, weights = 0, in_out = 0;
};

class DeviceTensors {
 public:
  // Makes and binds everything and uploads the weights.
  DeviceTensors(std::shared_ptr<gpu::Context> context, const Program& program, const MemoryPlan& plan);

  // What a shader binds to reach the tensor.
  gpu::BoundResource resource(TensorId id) const;
  // The buffer of an input, an output or a buffer intermediate.
  const gpu::Buffer& buffer(TensorId id) const;
  const gpu::Image& object_image(uint32_t object) const;
  const AllocatedBytes& allocated() const { return allocated_; }

 private:
  struct Slot {
    std::unique_ptr<gpu::Buffer> buffer;
    std::unique_ptr<gpu::Image> image;
  };

  void make_objects();
  uint64_t bind(std::vector<Slot*> slots, gpu::MemoryKind kind, gpu::MemoryCategory category);
  void upload_weights();
  const Slot& slot(TensorId id) const;
  Slot make_slot(const TensorDesc& desc) const;

  std::shared_ptr<gpu::Context> context_;
  const Program& program_;
  const MemoryPlan& plan_;
  std::vector<Slot> objects_;  // per shared object
  std::vector<Slot> own_;      // per tensor: weights, inputs, outputs
  AllocatedBytes allocated_;
};

}  // namespace vellum

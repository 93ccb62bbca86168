// The device objects of an executor: a buffer or image for every tensor of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "exec/device_slot.hpp"
#include "exec/program_weights.hpp"
#include "exec/state_memory.hpp"
#include "plan/memory_plan.hpp"

namespace vellum {

// Returns memory rules that query the device.
MemoryRules device_rules(const std::shared_ptr<gpu::Context>& context);

// Copies share the device objects, and keep them alive.
class DeviceTensors {
 public:
  // Creates and binds inputs and outputs. memory_budget: the budget that they count against, or null. state:
  // the memory of the program's states; null: memory of their own.
  DeviceTensors(std::shared_ptr<gpu::Context> context, const Program& program, const MemoryPlan& plan,
                std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr,
                std::shared_ptr<StateMemory> state = nullptr);
  // Sets the weights; null releases them.
  void set_weights(std::shared_ptr<ProgramWeights> weights) { weights_ = std::move(weights); }
  // Creates the shared objects in arenas that are at least as large as the plan's.
  void make_objects(std::span<const std::shared_ptr<gpu::Arena>> arenas);
  void drop_objects() noexcept { objects_.reset(); }
  bool has_objects() const { return objects_ != nullptr; }

  // Returns whether both share their inputs and outputs, because one is a copy of the other.
  bool shares_in_out_with(const DeviceTensors& other) const { return own_ == other.own_; }
  // Returns the memory of inputs and outputs; null if there are none.
  std::shared_ptr<gpu::Arena> in_out_arena() const;

  // Returns the descriptor of a tensor.
  gpu::BoundResource resource(TensorId id) const;
  // Returns the buffer of an input, an output or an intermediate tensor in a buffer.
  const gpu::Buffer& buffer(TensorId id) const;
  const gpu::Image& object_image(uint32_t object) const;
  uint64_t in_out_bytes() const { return in_out_bytes_; }
  const std::shared_ptr<gpu::MemoryBudget>& memory_budget() const { return memory_budget_; }
  const std::shared_ptr<ProgramWeights>& weights() const { return weights_; }
  const std::shared_ptr<StateMemory>& state() const { return state_; }  // null without states

 private:
  void make_inputs_and_outputs();
  const DeviceSlot& slot(TensorId id) const;

  using Slots = std::vector<DeviceSlot>;

  std::shared_ptr<gpu::Context> context_;
  const Program* program_;
  const MemoryPlan* plan_;
  std::shared_ptr<gpu::MemoryBudget> memory_budget_;
  std::shared_ptr<ProgramWeights> weights_;
  std::shared_ptr<StateMemory> state_;
  std::shared_ptr<const Slots> objects_;  // per shared object
  std::shared_ptr<const Slots> own_;      // per tensor: inputs, outputs
  uint64_t in_out_bytes_ = 0;
};

}  // namespace vellum

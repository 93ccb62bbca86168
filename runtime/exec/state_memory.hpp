// Device memory of a session's state (Program::states), which runs read and update. Executors for several
// input shapes share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/device_slot.hpp"
#include "program/program.hpp"
#include "vulkan/memory_budget.hpp"

namespace vellum {

// No function may be called while a run that uses the memory is under way.
class StateMemory {
 public:
  // Allocates memory of zeros for the states of a program. memory_budget: the budget that it counts against,
  // or null.
  StateMemory(std::shared_ptr<gpu::Context> context, const Program& program,
              std::shared_ptr<gpu::MemoryBudget> memory_budget);
  StateMemory(const StateMemory&) = delete;
  StateMemory& operator=(const StateMemory&) = delete;

  // Returns a copy in device memory that counts against no budget.
  std::shared_ptr<StateMemory> copy() const;
  // Copies all states of another memory on the same device. Both must have the same descs.
  void copy_from(const StateMemory& other);
  bool has_descs_of(const StateMemory& other) const;
  bool has_descs_of(const Program& program) const;
  const std::shared_ptr<gpu::Context>& context() const { return context_; }

  size_t count() const { return slots_.size(); }
  const DeviceSlot& slot(size_t state) const { return slots_[state]; }
  uint64_t bytes() const { return bytes_; }  // allocated

  void fill_with_zeros();
  // Copy one state from and to the host. Values have the dtype of the model and the shape of the state.
  void write(size_t state, const HostTensor& values);
  HostTensor read(size_t state, DType dtype) const;

 private:
  StateMemory(std::shared_ptr<gpu::Context> context, std::vector<TensorDesc> descs,
              std::vector<StateRows> rows, std::vector<std::string> names,
              std::shared_ptr<gpu::MemoryBudget> memory_budget);

  std::shared_ptr<gpu::Context> context_;
  std::vector<TensorDesc> descs_;
  std::vector<StateRows> rows_;  // StateTensor::rows
  std::vector<std::string> names_;
  std::shared_ptr<gpu::MemoryBudget> memory_budget_;
  std::vector<DeviceSlot> slots_;
  uint64_t bytes_ = 0;
};

}  // namespace vellum

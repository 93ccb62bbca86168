// Fills memory before the first write of each tensor, so that a kernel that reads what nothing wrote computes
// NaN in place of the values of an earlier tensor or run, and results that no kernel wrote are NaN, too. For
// tests (ContextOptions::poison_memory) and the check of kernels (ExecutorOptions::poison_memory).
#pragma once

#include <cstddef>
#include <vector>

#include "compile/compile.hpp"
#include "exec/device_tensors.hpp"
#include "vulkan/commands.hpp"

namespace vellum {

class Poison {
 public:
  explicit Poison(const CompiledModel& model);

  // Records fills of the intermediate tensors and outputs that the task is the first to write: with NaN in
  // floats and halves, -1 in integers, 255 in bytes. Needs the task's own barrier before it; adds one after
  // the fills.
  void record(gpu::CommandBuffer& commands, const DeviceTensors& tensors, size_t task) const;

 private:
  // A tensor in a buffer of its own or of a shared object, or an image.
  struct Begun {
    TensorId root = kNoTensor;
    uint32_t image = kNoObject;
  };
  std::vector<std::vector<Begun>> begun_;  // per task
};

}  // namespace vellum

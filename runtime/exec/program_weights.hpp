// Where an executor finds the weights of its program on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/program.hpp"
#include "vulkan/descriptors.hpp"

namespace vellum::gpu {
class Arena;
}

namespace vellum {

class ProgramWeights {
 public:
  virtual ~ProgramWeights() = default;
  // What a shader binds to reach the weight, a root.
  virtual gpu::BoundResource resource(TensorId id) const = 0;
  // The device memory that the weights lie in; other executors may use it too.
  virtual std::vector<std::shared_ptr<gpu::Arena>> arenas() const = 0;
};

}  // namespace vellum

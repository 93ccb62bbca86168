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

// The bytes of a weight as they lie on the device; Error(internal) where their number is not its desc's.
std::vector<std::byte> pack_weight(const VirtualTensor& weight);
// The weights of a program that have memory, in order of tensor id.
std::vector<TensorId> weight_ids(const Program& program);

}  // namespace vellum

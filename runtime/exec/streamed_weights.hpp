// Weights that stay in host memory and are copied to the device while the tasks run, within a budget of
// device memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/packed_weights.hpp"
#include "exec/program_weights.hpp"
#include "program/weights.hpp"

namespace vellum::gpu {
class Context;
class MemoryBudget;
}  // namespace vellum::gpu

namespace vellum {

struct StreamOptions {
  uint64_t budget = 0;  // bytes of device memory for weights
  PackedWeightsOptions packed;
  // The largest staging buffer, for weights that the host cannot write directly.
  uint64_t staging_bytes = uint64_t{8} << 20;
  // The budget that weights and staging buffers count against, or null.
  std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr;
  static constexpr uint32_t kPieces = 2;
  uint64_t piece_bytes() const { return std::min(staging_bytes, budget / 8); }
};

// The weight source of one session. The session's programs share its device memory: only one of them runs at
// a time, and each reloads weights that another has overwritten.
class StreamedWeights : public WeightSource {
 public:
  StreamedWeights(const std::shared_ptr<gpu::Context>& context, const StreamOptions& options,
                  FixedConstants constants = {});
  ~StreamedWeights() override;

  // Makes the weights of a program available. The first program determines how much of the budget is
  // allocated: no more than it can use. Throws Error(out_of_memory), which names the layer and a sufficient
  // budget, if a program cannot run within the budget or within the memory that earlier programs have
  // allocated. Also throws the errors of PackedWeights.
  std::unique_ptr<ProgramWeights> acquire(const Program& program, const Progress* progress) override;

  struct Pool;  // shared by the programs

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace vellum

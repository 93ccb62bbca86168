// Weights that stay in host memory and come to the device while the tasks run, in no more device memory than
// a budget.
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
}

namespace vellum {

struct StreamOptions {
  uint64_t budget = 0;  // bytes of device memory for weights
  PackedWeightsOptions packed;
  // Pieces of at most so many bytes in host-visible memory, where the host cannot write the weights
  // themselves.
  uint64_t staging_bytes = uint64_t{8} << 20;
  static constexpr uint32_t kPieces = 2;
  uint64_t piece_bytes() const { return std::min(staging_bytes, budget / 8); }
};

// One for each session, for the device memory is shared: only one of the programs that got their weights here
// runs at a time, and each finds its weights again, loading what the others have overwritten.
class StreamedWeights : public WeightSource {
 public:
  StreamedWeights(std::shared_ptr<gpu::Context> context, const StreamOptions& options,
                  FixedConstants constants = {});
  ~StreamedWeights() override;

  // The first program decides how much of the budget is taken: no more than it can use. Error(out_of_memory)
  // where a program cannot run within the budget, or not within what the programs before it have taken; the
  // message names the layer and a budget that would do. Errors of PackedWeights.
  std::unique_ptr<ProgramWeights> acquire(const Program& program) override;

  struct Pool;  // what the programs share

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace vellum

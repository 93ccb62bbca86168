// The weights of one model on one device, which executors share for all input shapes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/device_slot.hpp"
#include "exec/program_weights.hpp"
#include "program/weights.hpp"

namespace vellum::gpu {
class Uploader;
}

namespace vellum {

// Thread-safe. A weight exists as long as an executor holds it. Memory that was allocated for several weights
// exists as long as one of them does.
class WeightStore : public WeightSource {
 public:
  // `constants`: constants whose bytes do not move while the store is used. `packed`: finds weights that are
  // already prepacked. `memory_budget`: the budget that weights and their staging memory count against, or
  // null.
  explicit WeightStore(std::shared_ptr<gpu::Context> context, FixedConstants constants = {},
                       FindPacked packed = {}, std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr);

  // Prepacks and uploads the weights of the program that are not on the device yet.
  std::unique_ptr<ProgramWeights> acquire(const Program& program, const Progress* progress) override;

 private:
  using Weight = std::shared_ptr<const DeviceSlot>;

  Weight find(const std::string& key) const;
  void upload(gpu::Uploader& uploader, const DeviceSlot& slot, const VirtualTensor& weight) const;

  std::shared_ptr<gpu::Context> context_;
  const FixedConstants constants_;
  const FindPacked packed_;
  const std::shared_ptr<gpu::MemoryBudget> memory_budget_;
  std::mutex mutex_;  // held during prepacking and uploads, so that no weight is made twice
  std::unordered_map<std::string, std::weak_ptr<const DeviceSlot>> weights_;
};

}  // namespace vellum

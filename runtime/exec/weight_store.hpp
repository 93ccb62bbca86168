// Device weights that several executors share: those of one model on one device, whatever the input shapes.
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

// Thread-safe. A weight lives as long as an executor holds it; the memory that several came in lives as long
// as one of them does.
class WeightStore : public WeightSource {
 public:
  // `constants`: bytes that stay where they are as long as the store is used.
  // `packed`: where weights are packed already, and need not be again.
  explicit WeightStore(std::shared_ptr<gpu::Context> context, FixedConstants constants = {},
                       FindPacked packed = {});

  // The weights of the program: those that are on the device already, and the others packed and uploaded.
  std::unique_ptr<ProgramWeights> acquire(const Program& program) override;

 private:
  using Weight = std::shared_ptr<const DeviceSlot>;

  Weight find(const std::string& key) const;
  void upload(gpu::Uploader& uploader, const DeviceSlot& slot, const VirtualTensor& weight) const;

  std::shared_ptr<gpu::Context> context_;
  const FixedConstants constants_;
  const FindPacked packed_;
  std::mutex mutex_;  // held while weights are made, so that two sessions do not make the same ones
  std::unordered_map<std::string, std::weak_ptr<const DeviceSlot>> weights_;
};

}  // namespace vellum

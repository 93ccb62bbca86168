// Runs the layers that follow operators with data-dependent shapes, and those in iterations of Loops: each
// region in a session of its own.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "graph/operators/control/device_region.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

// The sessions are made in the first run. The number of rows is rounded up to one of four values in each
// power of two, so that few shapes are prepared. If rows depend on each other, the number is not rounded.
// Thread-safe.
class RegionRunner {
 public:
  // `options`: those of the session that the regions belong to.
  RegionRunner(Device device, const SessionOptions& options);

  std::vector<Tensor> run(const DeviceRegion& region, std::span<const Tensor* const> inputs);

 private:
  struct Prepared {
    Session session;
    std::vector<Tensor> inputs;  // of the last run; empty if it failed
  };

  Prepared& session_for(const DeviceRegion& region, const std::vector<Tensor>& inputs);

  Device device_;
  SessionOptions options_;
  std::mutex mutex_;
  std::map<const DeviceRegion*, Prepared> sessions_;
};

}  // namespace vellum

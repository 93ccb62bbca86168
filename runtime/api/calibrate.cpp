#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/run_with_zeros.hpp"
#include "api/target.hpp"
#include "cost/device_traits.hpp"
#include "estimate/calibration_file.hpp"
#include "estimate/driver_fit.hpp"
#include "estimate/driver_probes.hpp"
#include "estimate/host_memory.hpp"
#include "exec/pipeline_keys.hpp"
#include "platform/host_cpu.hpp"
#include "platform/private_files.hpp"
#include "platform/process_memory.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/estimate.hpp"

namespace vellum {
namespace {

// Estimates of programs with up to this multiple of the probes' operations have no interval.
constexpr uint64_t kBeyondProbes = 4;

// Returns the memory of a session without the driver's.
uint64_t bytes_without_driver(const MemoryEstimate& estimate) {
  return estimate.use.total() - estimate.resident.driver.value_or(0) -
         estimate.resident.pipelines.value_or(0);
}

// Runs the probes one after the other. All sessions, and their pipelines, stay until the end. The process
// memory after each probe is therefore that of one network with all pipelines so far.
class DriverProbing {
 public:
  DriverProbing(const Device& device, uint64_t resident_before)
      : device_(device), resident_before_(resident_before) {}

  std::vector<DriverSample> samples() {
    for (Graph& graph : driver_probes()) {
      models_.push_back(Handles::model(std::make_shared<const Model::Impl>(std::move(graph))));
      sessions_.emplace_back(device_, models_.back(), SessionOptions{});
      run_with_zeros(sessions_.back());
      peaks_.push_back(platform::process_memory().value().peak);
    }
    // The samples are computed only now, because that takes memory, too.
    std::vector<DriverSample> samples;
    std::set<gpu::PipelineKey> pipelines;
    uint64_t other = resident_before_;
    for (size_t i = 0; i < models_.size(); ++i) {
      for (const gpu::PipelineKey& key :
           pipeline_keys(Target(&device_).compile(models_[i], SessionOptions{}).program))
        pipelines.insert(key);
      other += bytes_without_driver(estimate_memory(models_[i], {}, device_));
      // The driver returns no memory to the system. Tensors may use memory that its compiler freed.
      const uint64_t least = samples.empty() ? 0 : samples.back().bytes;
      samples.push_back(
          {compiled_work(pipelines, nullptr), std::max(least, peaks_[i] > other ? peaks_[i] - other : 0)});
    }
    return samples;
  }

 private:
  Device device_;
  uint64_t resident_before_;
  std::vector<Model> models_;
  std::vector<Session> sessions_;
  std::vector<uint64_t> peaks_;
};

void keep(const ProcessTraits& traits, const DeviceCaps& caps, const DeviceOptions& options) {
  const std::filesystem::path& folder = options.cache_folder;
  if (folder.empty()) return;
  if (const auto why = platform::why_untrusted(folder))
    throw Error(ErrorCode::io,
                "the cache folder " + platform::to_utf8(folder) + " is not used, because " + *why);
  write_calibration(folder, caps, traits);
}

}  // namespace

MemoryCalibration MemoryMeter::calibrate(const DeviceOptions& options) const {
  return guard([&] {
    if (gpu::has_used_vulkan())
      throw Error(ErrorCode::invalid_argument,
                  "this process has used Vulkan already, so that it cannot measure what the driver takes; "
                  "calibrate in a process of its own");
    if (!resident_before_)
      throw Error(ErrorCode::unsupported, "this system does not report the memory of processes");
    platform::reset_peak();
    DeviceOptions without_cache = options;
    without_cache.cache_folder.clear();
    without_cache.validation = false;  // the layer takes memory, too
    const Device device = Device::open(without_cache);
    const DeviceCaps& caps = impl(device)->context->caps();
    if (!device_traits(caps).allocates_in_the_process)
      throw Error(ErrorCode::unsupported, caps.name +
                                              " has memory of its own: only drivers that run on the CPU are "
                                              "calibrated");
    const std::vector<DriverSample> samples = DriverProbing(device, resident_before_).samples();
    ProcessTraits traits = fit_process_traits(samples);
    traits.host = platform::host_cpu();
    traits.fitted_operations = {samples.front().work.operations,
                                kBeyondProbes * samples.back().work.operations};
    keep(traits, caps, options);
    return MemoryCalibration{traits.host, traits.driver_bytes, traits.bytes_per_operation,
                             traits.bytes_per_operation_of_largest};
  });
}

}  // namespace vellum

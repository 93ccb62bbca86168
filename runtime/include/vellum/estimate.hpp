// Estimates how much memory a model takes before it is loaded onto a device, and measures it.
//
// Categories follow Gao et al., "Estimating GPU Memory Consumption of Deep Learning Models" (FSE 2020).
// All sizes are in bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

struct MemoryUse {
  uint64_t weights = 0;        // prepacked
  uint64_t in_out = 0;         // inputs and outputs
  uint64_t state = 0;          // inputs and outputs that stay on the device (SessionOptions::state)
  uint64_t intermediates = 0;  // as planned
  uint64_t workspace = 0;      // temporary tensors of one operator, beyond the intermediates
  uint64_t staging = 0;        // for copies between host and device, as far as it raises the overall peak
  uint64_t resident = 0;       // everything else, see ResidentMemory
  uint64_t total() const { return weights + in_out + state + intermediates + workspace + staging + resident; }
};

struct ResidentMemory {
  uint64_t padding = 0;  // alignment, padding of images, unused bytes of allocators
  // Only if host and device share memory: the model's constants, and copies of device tensors for operators
  // with data-dependent shapes, which read them on the host. The results of these operators are not counted.
  uint64_t host = 0;
  // Only for drivers that run on the CPU. driver: code and data of the driver and its shader compiler.
  // pipelines: the machine code of all pipelines. No driver reports these, so they need measured figures in
  // the caps (`process.*` in a caps file). Without these figures both are empty, and `resident` and the total
  // exclude them.
  std::optional<uint64_t> driver, pipelines;
};

// The bytes passed to vkAllocateMemory.
struct VulkanMemory {
  uint64_t weights = 0, in_out = 0, state = 0;
  uint64_t intermediates = 0;  // intermediates and workspace
  uint64_t staging = 0;        // peak of staging
  uint64_t peak = 0;           // peak of the sum
};

struct MemoryInterval {
  uint64_t least = 0, most = 0;
};

// Bandwidths for streamed weights, in GB (10^9 bytes) per second.
struct StreamRates {
  // From host memory to device memory. 0: half of the device's memory bandwidth if host and device share
  // memory (of a driver that runs on the CPU: 10), else 12 (PCIe 3.0 x16).
  double bus = 0;
  double disk = 0;  // from the model's file; 0: the weights are in host memory
};

// The predicted time of one run (docs/gpu_compilers.md describes the model). The device's rates are published
// or assumed. Use the prediction to compare configurations, and to see whether a network that streams waits
// for its weights. Operators on the host are not counted.
struct PredictedRun {
  double ms = 0;                // dispatches, and waits for weights
  double computing_ms = 0;      // dispatches alone
  double streaming_ms = 0;      // copies of weights alone
  uint64_t streamed_bytes = 0;  // weights copied to the device; 0 if all of them stay there
};

struct MemoryEstimate {
  MemoryUse use;
  // The range of use.total(). Set if the figures behind resident.driver and resident.pipelines were not
  // measured on this host (MemoryMeter::calibrate()), or if the network is much smaller or larger than the
  // networks that they were measured with.
  std::optional<MemoryInterval> interval;
  std::string driver_host;  // the processor that those figures were measured on; empty: unknown
  ResidentMemory resident;
  VulkanMemory vulkan;
  // The naive estimate from shapes alone: the bytes of all tensors and parameters of the graph.
  uint64_t shape_inference_bytes = 0;
  size_t dispatches = 0, pipelines = 0;
  // Scalar operations that the driver compiles, with loops unrolled: the sum over all pipelines, and the
  // largest pipeline. Counted only if the caps have the driver's figures (`process.*` in a caps file).
  uint64_t shader_operations = 0, largest_shader_operations = 0;
  PredictedRun run;
  std::vector<std::string> warnings;  // e.g. operators that run on the host
};

// Estimates the memory of one session with these options and one combination of input shapes. Needs no
// device: sizes in memory are modelled. Throws Error(invalid_argument) if an input's shape is open or a rate
// is below 0.
VELLUM_API MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options, const Caps& caps,
                                          const StreamRates& rates = {});
// Estimates with the sizes that the device reports for images and buffers, which predicts allocations
// exactly.
VELLUM_API MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options,
                                          const Device& device, const StreamRates& rates = {});

struct MemoryMeasurement {
  MemoryUse use;
  VulkanMemory vulkan;
  // The memory of this process in the driver's heaps at the end of a run, as VK_EXT_memory_budget reports it.
  std::optional<uint64_t> driver_bytes;
  // The growth of the whole process at its peak. Empty if the system does not report it.
  std::optional<uint64_t> process_bytes;
  bool driver_included = false;  // use.resident includes the driver itself
  // The result of estimate_memory() with the sizes that the device reports.
  MemoryEstimate estimate;
};

// The process memory that a driver on the CPU takes; see docs/estimate.md.
struct MemoryCalibration {
  std::string host;           // the processor
  uint64_t driver_bytes = 0;  // code and data of the driver and its shader compiler
  // Bytes for each scalar operation of the shaders, with loops unrolled: over all pipelines, and in addition
  // for the largest pipeline.
  uint32_t bytes_per_operation = 0, bytes_per_operation_of_largest = 0;
};

// Measures memory: opens the device, loads the model, runs it twice with zeros and closes everything. The
// growth of the process counts from the construction of the meter, so construct it before anything else. With
// a cache folder shaders may come from the cache, and the memory of compiling them is not measured. On CPU
// devices `resident` is the growth of the process beyond the other categories.
class VELLUM_API MemoryMeter {
 public:
  MemoryMeter();
  MemoryMeasurement measure(const std::filesystem::path& model, const SessionOptions& options,
                            const DeviceOptions& device = {}) const;
  // Measures the process memory that the driver of a CPU device takes on this host. It takes seconds: it
  // opens the device, runs a few small networks with newly compiled shaders, and stores the figures in
  // options.cache_folder for devices that are opened with this folder. They are valid for this device,
  // driver, processor and version of Vellum.
  //
  // Throws Error(invalid_argument) in a process that has used Vulkan before, Error(unsupported) for a device
  // with memory of its own. Mesa's shader cache must be disabled (environment variable
  // MESA_SHADER_CACHE_DISABLE=1), or the memory of the shader compiler is not measured.
  MemoryCalibration calibrate(const DeviceOptions& options = {}) const;

 private:
  uint64_t resident_before_ = 0;  // of the process; 0: the system does not report it
};

}  // namespace vellum

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
  uint64_t intermediates = 0;  // as planned
  uint64_t workspace = 0;      // temporary tensors of one operator, beyond the intermediates
  uint64_t staging = 0;        // between host and device, as far as it raises the overall peak
  uint64_t resident = 0;       // the rest, see ResidentMemory
  uint64_t total() const { return weights + in_out + intermediates + workspace + staging + resident; }
};

struct ResidentMemory {
  uint64_t padding = 0;  // alignment, padding of images, unused bytes of allocators
  // If host and device share their memory: the model's constants, and the copies of device tensors that
  // operators with data-dependent shapes read on the host, without their results.
  uint64_t host = 0;
  // For drivers that run on the CPU: the code and data of the driver and its shader compiler, and the machine
  // code of all pipelines. No driver reports these; nothing if the caps have no measured figures (`process.*`
  // in a caps file), and then `resident` and the total exclude them.
  std::optional<uint64_t> driver, pipelines;
};

// The bytes passed to vkAllocateMemory.
struct VulkanMemory {
  uint64_t weights = 0, in_out = 0;
  uint64_t intermediates = 0;  // and workspace
  uint64_t staging = 0;        // the peak
  uint64_t peak = 0;           // of all together
};

struct MemoryInterval {
  uint64_t least = 0, most = 0;
};

struct MemoryEstimate {
  MemoryUse use;
  // The range of use.total() if resident.driver and resident.pipelines come from figures not measured on
  // this host (MemoryMeter::calibrate()), or for much smaller or larger networks; otherwise nothing.
  std::optional<MemoryInterval> interval;
  std::string driver_host;  // the processor that those figures were measured on; empty: unknown
  ResidentMemory resident;
  VulkanMemory vulkan;
  // The estimate from shapes alone: the bytes of every tensor of the graph and of its parameters.
  uint64_t shape_inference_bytes = 0;
  size_t dispatches = 0, pipelines = 0;
  // Scalar operations that the driver compiles, loops unrolled: of all pipelines, and of the largest. Counted
  // only if the caps have the driver's figures (`process.*` in a caps file).
  uint64_t shader_operations = 0, largest_shader_operations = 0;
  std::vector<std::string> warnings;  // e.g. operators that run on the host
};

// Estimates the memory of one session with these options and one combination of input shapes. Needs no
// device: sizes in memory are modelled. Throws Error(invalid_argument) if an input's shape is open.
VELLUM_API MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options,
                                          const Caps& caps);
// Does the same with the device's own answers for the memory of images and buffers, which predicts
// allocations exactly.
VELLUM_API MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options,
                                          const Device& device);

struct MemoryMeasurement {
  MemoryUse use;
  VulkanMemory vulkan;
  // The driver's report of the process's memory in its heaps (VK_EXT_memory_budget), at the end of a run.
  std::optional<uint64_t> driver_bytes;
  // The growth of the whole process at its peak; nothing if the system does not report it.
  std::optional<uint64_t> process_bytes;
  bool driver_included = false;  // use.resident includes the driver itself
  // estimate_memory() with the device's own answers.
  MemoryEstimate estimate;
};

// The memory of the process that a driver on the CPU takes; see docs/estimate.md.
struct MemoryCalibration {
  std::string host;  // the processor
  uint64_t driver_bytes = 0;
  uint32_t bytes_per_operation = 0, bytes_per_operation_of_largest = 0;
};

// Measures memory: opens the device, loads the model, runs it twice with zeros and closes everything. The
// growth of the process counts from the construction of the meter, so construct it first. Give it no cache
// folder if shaders are to be compiled. On CPU devices `resident` is the growth of the process beyond the
// other categories.
class VELLUM_API MemoryMeter {
 public:
  MemoryMeter();
  MemoryMeasurement measure(const std::filesystem::path& model, const SessionOptions& options,
                            const DeviceOptions& device = {}) const;
  // Measures what the driver of a CPU device takes on this host, in seconds: opens the device, runs a few
  // small networks with newly compiled shaders, and stores the figures in device.cache_folder, for devices
  // that are opened with this folder. They hold for this device, driver, processor and version of Vellum.
  //
  // Only a process that has not used Vulkan yet can measure: throws Error(invalid_argument) in any other.
  // Error(unsupported) for a device with memory of its own, whose driver's memory no process has. Mesa's own
  // cache must be off (the environment variable MESA_SHADER_CACHE_DISABLE=1), or it hides the compiler.
  MemoryCalibration calibrate(const DeviceOptions& options = {}) const;

 private:
  uint64_t resident_before_ = 0;  // of the process; 0: the system does not report it
};

}  // namespace vellum

// How much memory a model takes, told before it is loaded onto a device, and measured.
//
// Categories follow Gao et al., "Estimating GPU Memory Consumption of Deep Learning Models" (FSE 2020).
// Everything in bytes.
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
  uint64_t weights = 0;        // as the kernels want them
  uint64_t in_out = 0;         // inputs and outputs
  uint64_t intermediates = 0;  // as planned
  uint64_t workspace = 0;      // temporary tensors of one operator, beyond what the intermediates take
  uint64_t staging = 0;        // between host and device, as far as it raises the peak of all
  uint64_t resident = 0;       // all else, see ResidentMemory
  uint64_t total() const { return weights + in_out + intermediates + workspace + staging + resident; }
};

struct ResidentMemory {
  uint64_t padding = 0;  // alignment, padding of images, what allocators leave unused
  // Where host and device share their memory: the model's constants, and what the host reads of the device
  // for operators whose results only a run tells the shapes of. Not those results.
  uint64_t host = 0;
  // Of drivers that run on the CPU: their own code and data, the shader compiler's, and what it makes of all
  // pipelines. No driver tells; nothing where the caps have no measured figures (`process.*` in a caps file),
  // and then `resident` and the total are without it.
  std::optional<uint64_t> driver, pipelines;
};

// As passed to vkAllocateMemory.
struct VulkanMemory {
  uint64_t weights = 0, in_out = 0;
  uint64_t intermediates = 0;  // and workspace
  uint64_t staging = 0;        // at most at any time
  uint64_t peak = 0;           // of all together
};

struct MemoryEstimate {
  MemoryUse use;
  ResidentMemory resident;
  VulkanMemory vulkan;
  // What the shapes alone say: the bytes of every tensor of the graph and of its parameters.
  uint64_t shape_inference_bytes = 0;
  size_t dispatches = 0, pipelines = 0;
  // What the driver compiles of all pipelines, and of the largest: operations on scalars, loops unrolled.
  // Counted only for drivers whose own memory the caps know (`process.*` in a caps file).
  uint64_t shader_operations = 0, largest_shader_operations = 0;
  std::vector<std::string> warnings;  // e.g. operators that run on the host
};

// For one session with these options, inputs of one combination of shapes. No device is touched: sizes on the
// device are modelled. Error(invalid_argument) where an input's shape is open.
VELLUM_API MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options,
                                          const Caps& caps);
// The same with the device's own answers on the memory of images and buffers: what is allocated is predicted
// exactly.
VELLUM_API MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options,
                                          const Device& device);

struct MemoryMeasurement {
  MemoryUse use;
  VulkanMemory vulkan;
  // What the driver says that the process takes of its heaps (VK_EXT_memory_budget), at the end of a run.
  std::optional<uint64_t> driver_bytes;
  // What the whole process grew by at its peak; nothing where the system does not tell.
  std::optional<uint64_t> process_bytes;
  bool driver_included = false;  // use.resident has what the driver itself takes
  // estimate_memory() with the device's own answers.
  MemoryEstimate estimate;
};

// Opens the device, loads the model, runs it twice with zeros and closes everything. What the process grows
// by counts from the making of the meter: make it before anything else, and give it no cache folder where
// shaders shall be compiled. On devices that are CPUs `resident` is all that the process grew by beyond the
// other categories.
class VELLUM_API MemoryMeter {
 public:
  MemoryMeter();
  MemoryMeasurement measure(const std::filesystem::path& model, const SessionOptions& options,
                            const DeviceOptions& device = {}) const;

 private:
  uint64_t resident_before_ = 0;  // of the process; 0: the system does not tell
};

}  // namespace vellum

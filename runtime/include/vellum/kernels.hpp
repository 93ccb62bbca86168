// Kernel reports: what a device's compiler makes of a model's kernels, and how long each dispatch should
// take. Needs a driver with VK_KHR_pipeline_executable_properties (Mesa's AMD, Intel, Qualcomm and Arm
// drivers, NVIDIA's).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vellum/device_rates.hpp"
#include "vellum/kernel_statistics.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

// Machine code of a pipeline. Figures that drivers give under different names are members; NaN where the
// driver does not give one.
struct KernelCode {
  std::string name;                // the driver's, "Compute Shader" or "SIMD16 compute"
  uint32_t subgroup_size = 0;      // 0: unknown
  double registers = 0;            // of an invocation, as the driver counts them
  double spills = 0;               // registers, or instructions that store them, that did not fit
  double resident_subgroups = 0;   // the most that a SIMD unit, core or multiprocessor holds at a time
  double shared_memory_bytes = 0;  // of a workgroup
  double instructions = 0;         // in the code, not executed
  double cycles = 0;               // the driver's own estimate
  std::vector<KernelStatistic> statistics;            // all that the driver gives
  std::vector<KernelRepresentation> representations;  // with KernelReportOptions::representations
};

struct KernelPipeline {
  std::string shader;
  std::vector<std::pair<std::string, std::string>> defines;  // that tell variants of the shader apart
  std::string variant;  // the defines as text, without those that every kernel has for its tensors
  std::array<uint32_t, 3> workgroup_size{};
  std::vector<KernelCode> code;  // drivers may make code for several subgroup sizes
};

struct KernelDispatch {
  std::string name, op;  // of the node; "Convert" for a layout conversion
  size_t pipeline = 0;   // index into KernelReport::pipelines
  std::array<uint32_t, 3> workgroups{};
  uint64_t invocations = 0;
  uint64_t subgroups = 0;  // workgroups times the subgroups of each; 0 if the subgroup size is unknown
  uint64_t macs = 0;       // multiply-accumulates without padding; 0: none worth counting
  uint64_t bytes = 0;      // of the tensors that it binds, each once
  bool barrier = false;    // whether it waits for dispatches before it
  // Microseconds at the device's rates, which no dispatch can beat; NaN if the rates are unknown.
  double compute_us = 0, memory_us = 0;
  // Microseconds that it should take; NaN if the rates are unknown. docs/gpu_compilers.md has the model.
  double predicted_us = 0;
  // Figures of the prediction: microseconds of loads that wait for one another, and of launch and barrier;
  // how many such loads; the share of the units that has work; subgroups among which a unit switches; the
  // share of the peak rate that the kernel's loop is taken to reach.
  double latency_us = 0, overhead_us = 0;
  double steps = 0, busy = 0, waves = 0, efficiency = 0;
};

struct KernelReport {
  std::string device, driver;
  std::optional<DeviceRates> rates;
  std::vector<KernelPipeline> pipelines;   // in order of first use
  std::vector<KernelDispatch> dispatches;  // in execution order; tasks of the host are left out
};

// Returns the rates of a device from published figures of its chip; nothing if it is not in the table
// (runtime/cost/device_rates.cpp).
VELLUM_API std::optional<DeviceRates> known_rates(const DeviceInfo& device);

struct KernelReportOptions {
  // The device's rates; empty: known_rates(). A latency or launch of 0: that of common GPUs of its vendor.
  std::optional<DeviceRates> rates;
  bool representations = false;  // megabytes for a network
};

// Compiles every pipeline of a session with these options, apart from the device's caches. Throws
// Error(unsupported) if the driver lacks the extension.
VELLUM_API KernelReport kernels(const Device& device, const Model& model, const SessionOptions& options = {},
                                const KernelReportOptions& report = {});

}  // namespace vellum

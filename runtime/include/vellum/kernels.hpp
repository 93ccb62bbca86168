// Kernel reports: figures of the machine code that a driver compiles for a model's kernels, and the predicted
// time of each dispatch. Needs a driver with VK_KHR_pipeline_executable_properties (Mesa's AMD, Intel,
// Qualcomm and Arm drivers, NVIDIA's).
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

// The machine code of a pipeline. Members are figures that several drivers report, each under its own name.
// NaN: this driver does not report it.
struct KernelCode {
  std::string name;            // the driver's name: "Compute Shader" or "SIMD16 compute"
  uint32_t subgroup_size = 0;  // 0: unknown
  double registers = 0;        // of one invocation, in the driver's unit
  double spills = 0;           // registers that did not fit, or the instructions that store them
  // The most subgroups that a SIMD unit, core or multiprocessor holds at a time.
  double resident_subgroups = 0;
  double shared_memory_bytes = 0;                     // of a workgroup
  double instructions = 0;                            // instructions in the code, not executed instructions
  double cycles = 0;                                  // the driver's own estimate
  std::vector<KernelStatistic> statistics;            // everything that the driver reports
  std::vector<KernelRepresentation> representations;  // with KernelReportOptions::representations
};

struct KernelPipeline {
  std::string shader;
  // The macros that distinguish variants of the shader.
  std::vector<std::pair<std::string, std::string>> defines;
  std::string variant;  // `defines` as text, without those that describe tensors
  std::array<uint32_t, 3> workgroup_size{};
  std::vector<KernelCode> code;  // several if the driver compiles for several subgroup sizes
};

struct KernelDispatch {
  std::string name, op;  // of the node; op is "Convert" for a layout conversion
  size_t pipeline = 0;   // index into KernelReport::pipelines
  std::array<uint32_t, 3> workgroups{};
  uint64_t invocations = 0;
  uint64_t subgroups = 0;  // workgroups times the subgroups of each; 0 if the subgroup size is unknown
  uint64_t macs = 0;       // multiply-accumulates without padding; 0 if they are negligible
  uint64_t bytes = 0;      // bytes of the tensors that it binds, each counted once
  bool barrier = false;    // whether it waits for dispatches before it
  // Lower bounds in microseconds from the device's peak rates; NaN if the rates are unknown.
  double compute_us = 0, memory_us = 0;
  // Predicted time in microseconds; NaN if the rates are unknown. docs/gpu_compilers.md describes the model.
  double predicted_us = 0;
  // Terms of the prediction. latency_us: time of loads that wait for one another; steps: their number.
  // overhead_us: time of launch and barrier. busy: share of the device's units that have work. waves:
  // subgroups among which a unit switches. efficiency: share of the peak rate that the kernel's loop is
  // assumed to reach.
  double latency_us = 0, overhead_us = 0;
  double steps = 0, busy = 0, waves = 0, efficiency = 0;
};

struct KernelReport {
  std::string device, driver;
  std::optional<DeviceRates> rates;
  std::vector<KernelPipeline> pipelines;   // in order of first use
  std::vector<KernelDispatch> dispatches;  // in execution order, without tasks that run on the host
};

// Returns the rates of a device from published figures of its chip. Returns nothing for a chip that is not in
// the table of runtime/cost/device_rates.cpp.
VELLUM_API std::optional<DeviceRates> known_rates(const DeviceInfo& device);

struct KernelReportOptions {
  // The device's rates. Empty: known_rates(). If latency or launch is 0, the value of common GPUs of its
  // vendor is used.
  std::optional<DeviceRates> rates;
  bool representations = false;  // also report representations, megabytes for a network
};

// Compiles every pipeline of a session with these options without the device's caches, and reports on each.
// Throws Error(unsupported) if the driver lacks the extension.
VELLUM_API KernelReport kernels(const Device& device, const Model& model, const SessionOptions& options = {},
                                const KernelReportOptions& report = {});

// Returns the pipelines and dispatches of a session with these options, with the times by which Vellum chose
// the kernels. Compiles nothing, so KernelPipeline::code is empty and every driver is supported. The rates
// are those of a common GPU of the device's type where known_rates() does not know the chip.
VELLUM_API KernelReport predicted_kernels(const Device& device, const Model& model,
                                          const SessionOptions& options = {});

}  // namespace vellum

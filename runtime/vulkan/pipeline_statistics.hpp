// Reads the driver's report about a compiled pipeline (VK_KHR_pipeline_executable_properties).
#pragma once

#include <string>
#include <vector>

#include "vellum/kernel_statistics.hpp"
#include "vulkan/context.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::gpu {

// The machine code of a shader. A driver may compile several for one pipeline, such as one for each subgroup
// size.
struct PipelineExecutable {
  std::string name;
  uint32_t subgroup_size = 0;  // 0: not reported
  std::vector<KernelStatistic> statistics;
  std::vector<KernelRepresentation> representations;  // empty if not requested
};

// Returns whether the device has the extension.
bool has_pipeline_statistics(const Context& context);

// Compiles the pipeline outside of the registry, without the driver's cache, and returns the driver's report.
// Throws Error(unsupported) without the extension, and the errors of PipelineRegistry::get().
std::vector<PipelineExecutable> pipeline_statistics(Context& context, const PipelineKey& key,
                                                    bool representations = false);

}  // namespace vellum::gpu

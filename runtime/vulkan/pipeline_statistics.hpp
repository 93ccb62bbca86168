// Reads what the driver's compiler reports about a pipeline (VK_KHR_pipeline_executable_properties).
#pragma once

#include <string>
#include <vector>

#include "vellum/kernel_statistics.hpp"
#include "vulkan/context.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::gpu {

// The machine code of a shader. A driver may make several of one pipeline, such as one for each subgroup
// size.
struct PipelineExecutable {
  std::string name;
  uint32_t subgroup_size = 0;  // 0: the driver does not say
  std::vector<KernelStatistic> statistics;
  std::vector<KernelRepresentation> representations;  // empty if they were not asked for
};

// Whether the device has the extension.
bool has_pipeline_statistics(const Context& context);

// Compiles the pipeline apart from the registry, without the driver's cache, and returns what the driver says
// of it. Throws Error(unsupported) without the extension, and what PipelineRegistry::get() throws.
std::vector<PipelineExecutable> pipeline_statistics(Context& context, const PipelineKey& key,
                                                    bool representations = false);

}  // namespace vellum::gpu

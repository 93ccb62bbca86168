// What the driver's compiler made of a pipeline (VK_KHR_pipeline_executable_properties).
#pragma once

#include <string>
#include <vector>

#include "vulkan/context.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::gpu {

// A figure by the driver's own name, such as "VGPRs" or "Instruction Count". A flag is 0 or 1.
struct PipelineStatistic {
  std::string name, description;
  double value = 0;
};

// A form of the shader inside the driver's compiler as text, such as its assembly.
struct PipelineRepresentation {
  std::string name, description, text;
};

// The machine code of a shader. A driver may make several of one pipeline, such as one for each subgroup
// size.
struct PipelineExecutable {
  std::string name;
  uint32_t subgroup_size = 0;  // 0: the driver does not say
  std::vector<PipelineStatistic> statistics;
  std::vector<PipelineRepresentation> representations;  // empty if they were not asked for
};

// Whether the device has the extension.
bool has_pipeline_statistics(const Context& context);

// Compiles the pipeline apart from the registry, without the driver's cache, and returns what the driver says
// of it. Throws Error(unsupported) without the extension, and what PipelineRegistry::get() throws.
std::vector<PipelineExecutable> pipeline_statistics(Context& context, const PipelineKey& key,
                                                    bool representations = false);

}  // namespace vellum::gpu

// Which pipelines a program runs.
#pragma once

#include <vector>

#include "kernels/program.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

// Of each dispatch, in order of tasks; equal keys are one pipeline.
std::vector<gpu::PipelineKey> pipeline_keys(const Program& program);

}  // namespace vellum

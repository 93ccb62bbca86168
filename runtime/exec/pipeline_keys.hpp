// Which pipelines a program runs.
#pragma once

#include <vector>

#include "program/program.hpp"
#include "plan/memory_plan.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

// Of each dispatch, in order of tasks; equal keys are one pipeline.
std::vector<gpu::PipelineKey> pipeline_keys(const Program& program);

// Of each dispatch what its bindings are; buffers as an image of one texel.
std::vector<std::vector<gpu::ImageDesc>> bound_images(const Program& program, const MemoryPlan& plan);

}  // namespace vellum

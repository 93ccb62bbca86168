// The pipelines of a program.
#pragma once

#include <vector>

#include "plan/memory_plan.hpp"
#include "program/program.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum {

gpu::PipelineKey pipeline_key(const Program& program, const Dispatch& dispatch);

// Returns one key per dispatch, in the order of tasks. Dispatches with equal keys share a pipeline.
std::vector<gpu::PipelineKey> pipeline_keys(const Program& program);

// Returns for each dispatch the images that it binds. A buffer is listed as an image of one texel.
std::vector<std::vector<gpu::ImageDesc>> bound_images(const Program& program, const MemoryPlan& plan);

}  // namespace vellum

// The Vulkan objects of a pipeline, only for the .cpp files of this folder.
#pragma once

#include "vulkan/context.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

struct PipelineObjects {
  vk::raii::DescriptorSetLayout set_layout{nullptr};
  vk::raii::PipelineLayout layout{nullptr};
  vk::raii::Pipeline pipeline{nullptr};
};

// Compiles the shader and creates the objects. cache: may be null. Throws the errors of
// PipelineRegistry::get().
PipelineObjects create_pipeline(Context::Impl& device, const PipelineKey& key,
                                const vk::raii::PipelineCache* cache, vk::PipelineCreateFlags flags);

}  // namespace vellum::gpu

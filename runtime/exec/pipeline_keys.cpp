#include "exec/pipeline_keys.hpp"

namespace vellum {
namespace {

gpu::BindingType binding_type(const TensorDesc& desc, const Binding& binding) {
  if (binding.texel_buffer)
    return desc.element == ElementType::f16 ? gpu::BindingType::texel_buffer_rgba16f
                                            : gpu::BindingType::texel_buffer_rgba32f;
  if (desc.storage == Storage::buffer) return gpu::BindingType::storage_buffer;
  return binding.sampled ? gpu::BindingType::sampled_image : gpu::BindingType::storage_image;
}

gpu::PipelineKey pipeline_key(const Program& program, const Dispatch& dispatch) {
  gpu::PipelineKey key;
  key.shader = dispatch.shader;
  key.defines = dispatch.defines;
  key.workgroup_size = dispatch.workgroup_size;
  key.subgroup_size = dispatch.subgroup_size;
  key.push_constant_bytes = static_cast<uint32_t>(dispatch.push_constants.size());
  for (const Binding& binding : dispatch.bindings)
    key.bindings.push_back(binding_type(program.tensors[binding.tensor].desc, binding));
  return key;
}

}  // namespace

std::vector<gpu::PipelineKey> pipeline_keys(const Program& program) {
  std::vector<gpu::PipelineKey> keys;
  for (const Task& task : program.tasks)
    if (task.dispatch) keys.push_back(pipeline_key(program, *task.dispatch));
  return keys;
}

}  // namespace vellum

#include "exec/pipeline_keys.hpp"

#include "exec/device_slot.hpp"

namespace vellum {
namespace {

gpu::BindingType binding_type(const TensorDesc& desc, const Binding& binding) {
  const bool is_bytes = (desc.element == ElementType::q8 && !binding.of_words4) || binding.of_bytes;
  if (binding.texel_buffer && binding.sampled)
    return desc.element == ElementType::f16 ? gpu::BindingType::sampled_buffer_rgba16f
           : is_bytes                       ? gpu::BindingType::sampled_buffer_rgba8ui
           : binding.of_words4              ? gpu::BindingType::sampled_buffer_rgba32ui
                                            : gpu::BindingType::sampled_buffer_rgba32f;
  if (binding.texel_buffer)
    return desc.element == ElementType::f16 ? gpu::BindingType::texel_buffer_rgba16f
           : is_bytes                       ? gpu::BindingType::texel_buffer_rgba8ui
           : binding.of_words4              ? gpu::BindingType::texel_buffer_rgba32ui
                                            : gpu::BindingType::texel_buffer_rgba32f;
  if (desc.storage == Storage::buffer) return gpu::BindingType::storage_buffer;
  return binding.sampled ? gpu::BindingType::sampled_image : gpu::BindingType::storage_image;
}

gpu::ImageDesc bound_image(const Program& program, const MemoryPlan& plan, TensorId tensor) {
  const TensorDesc& desc = program.tensors[program.root(tensor)].desc;
  if (desc.storage == Storage::buffer) return {};
  const uint32_t object = plan.object_of[tensor];
  if (object == kNoObject) return image_desc(desc.storage, desc.element, desc.extent());
  return image_desc(plan.objects[object].kind, plan.objects[object].element, plan.objects[object].extent);
}

}  // namespace

gpu::PipelineKey pipeline_key(const Program& program, const Dispatch& dispatch) {
  gpu::PipelineKey key;
  key.shader = dispatch.shader;
  key.defines = dispatch.defines;
  key.workgroup_size = dispatch.workgroup_size;
  key.subgroup_size = dispatch.subgroup_size;
  key.parameter_block = dispatch.push_constants.block();
  key.push_constant_bytes = static_cast<uint32_t>(dispatch.push_constants.bytes().size());
  for (const Binding& binding : dispatch.bindings)
    key.bindings.push_back(binding_type(program.tensors[binding.tensor].desc, binding));
  return key;
}

std::vector<gpu::PipelineKey> pipeline_keys(const Program& program) {
  std::vector<gpu::PipelineKey> keys;
  for (const Task& task : program.tasks)
    if (task.dispatch) keys.push_back(pipeline_key(program, *task.dispatch));
  return keys;
}

std::vector<std::vector<gpu::ImageDesc>> bound_images(const Program& program, const MemoryPlan& plan) {
  std::vector<std::vector<gpu::ImageDesc>> images;
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    auto& bound = images.emplace_back();
    for (const Binding& binding : task.dispatch->bindings)
      bound.push_back(bound_image(program, plan, binding.tensor));
  }
  return images;
}

}  // namespace vellum

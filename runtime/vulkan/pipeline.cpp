#include "vulkan/pipeline.hpp"

#include <algorithm>
#include <string>

#include "vulkan/context_impl.hpp"
#include "vulkan/pipeline_cache.hpp"
#include "vulkan/pipeline_objects.hpp"
#include "vulkan/spirv_interface.hpp"

namespace vellum::gpu {
namespace {

void require(bool holds, const PipelineKey& key, const DeviceCaps& caps, const std::string& excess) {
  if (!holds)
    throw Error(ErrorCode::unsupported, "shader " + key.shader + " on " + caps.name + ": " + excess);
}

std::string more(uint64_t asked, uint64_t limit, const char* what) {
  return std::to_string(asked) + " " + what + ", more than the device's " + std::to_string(limit);
}

void check_bindings(const PipelineKey& key, const Context::Impl& context) {
  const DeviceCaps& caps = context.caps;
  const struct {
    std::vector<vk::DescriptorType> types;
    uint32_t limit;
    const char* what;
  } limits[] = {
      {{vk::DescriptorType::eStorageBuffer}, caps.max_storage_buffers_per_stage, "storage buffers"},
      {{vk::DescriptorType::eStorageImage, vk::DescriptorType::eStorageTexelBuffer},
       caps.max_storage_images_per_stage,
       "storage images and texel buffers"},
      {{vk::DescriptorType::eCombinedImageSampler}, caps.max_sampled_images_per_stage, "sampled images"},
      {{vk::DescriptorType::eUniformBuffer},
       context.physical.max_uniform_buffers_per_stage,
       "uniform buffers"},
  };
  for (const auto& limit : limits) {
    const auto asked = static_cast<uint64_t>(std::ranges::count_if(key.bindings, [&](BindingType binding) {
      return std::ranges::count(limit.types, descriptor_type(binding)) > 0;
    }));
    require(asked <= limit.limit, key, caps, more(asked, limit.limit, limit.what));
  }
}

void check_workgroup(const PipelineKey& key, const DeviceCaps& caps) {
  uint64_t invocations = 1;
  for (size_t i = 0; i < 3; ++i) {
    const uint32_t size = key.workgroup_size[i];
    if (size == 0)
      throw Error(ErrorCode::invalid_argument, "shader " + key.shader + ": a workgroup of no invocations");
    require(size <= caps.max_workgroup_size[i], key, caps,
            more(size, caps.max_workgroup_size[i], "invocations along one side of the workgroup"));
    invocations *= size;  // three sides within the device's limits: no overflow
  }
  require(invocations <= caps.max_workgroup_invocations, key, caps,
          more(invocations, caps.max_workgroup_invocations, "invocations in a workgroup"));
}

void check_subgroups(const PipelineKey& key, const Context::Impl& context) {
  const DeviceCaps& caps = context.caps;
  require(caps.full_subgroups && key.subgroup_size == caps.subgroup_size, key, caps,
          "it has no full subgroups of " + std::to_string(key.subgroup_size));
  const auto& size = key.workgroup_size;
  if (size[0] % key.subgroup_size != 0)
    throw Error(ErrorCode::invalid_argument,
                "shader " + key.shader + ": subgroups do not divide its workgroup");
  const SubgroupControl& control = context.physical.subgroups;
  const uint32_t subgroups = size[0] * size[1] * size[2] / key.subgroup_size;
  if (control.sets_size)
    require(subgroups <= control.max_subgroups, key, caps,
            more(subgroups, control.max_subgroups, "subgroups in a workgroup"));
}

void check_push_constants(const PipelineKey& key, const DeviceCaps& caps) {
  if (key.push_constant_bytes % 4 != 0)
    throw Error(ErrorCode::invalid_argument,
                "shader " + key.shader + ": the push constants' size is not a multiple of 4");
  require(key.push_constant_bytes <= caps.max_push_constant_bytes, key, caps,
          more(key.push_constant_bytes, caps.max_push_constant_bytes, "bytes of push constants"));
}

// Compares the shader's declarations with what its dispatches bind and push. A stripped shader has no names.
void check_interface(const PipelineKey& key, std::span<const uint32_t> words) {
  const SpirvInterface shader = read_spirv_interface(words);
  if (!shader.parameter_block.empty() && !key.parameter_block.empty() &&
      shader.parameter_block != key.parameter_block)
    throw Error(ErrorCode::internal, "shader " + key.shader + " has " + shader.parameter_block +
                                         " as its parameters; a dispatch passes " + key.parameter_block);
  const auto numbered_from_0 = [&] {
    for (uint32_t i = 0; i < shader.bindings.size(); ++i)
      if (shader.bindings[i] != i) return false;
    return true;
  };
  if (shader.bindings.size() != key.bindings.size() || !numbered_from_0()) {
    std::string declared;
    for (const uint32_t binding : shader.bindings) declared += " " + std::to_string(binding);
    throw Error(ErrorCode::internal, "shader " + key.shader + " declares the bindings" + declared +
                                         "; its dispatches bind the first " +
                                         std::to_string(key.bindings.size()));
  }
}

vk::raii::DescriptorSetLayout create_set_layout(Context::Impl& context, const PipelineKey& key) {
  const std::vector<BindingType>& bindings = key.bindings;
  std::vector<vk::DescriptorSetLayoutBinding> infos;
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    vk::DescriptorSetLayoutBinding info(i, descriptor_type(bindings[i]), 1,
                                        vk::ShaderStageFlagBits::eCompute);
    if (bindings[i] == BindingType::sampled_image) info.setPImmutableSamplers(&*context.nearest_sampler);
    if (bindings[i] == BindingType::planes_image)
      info.setPImmutableSamplers(&*context.ycbcr_samplers.get(context, key.planes).sampler);
    infos.push_back(info);
  }
  return {context.device, vk::DescriptorSetLayoutCreateInfo({}, infos), context.allocator()};
}

}  // namespace

ShaderRequest shader_request(const PipelineKey& key) {
  ShaderRequest request{key.shader, key.source, key.defines};
  constexpr const char* names[] = {"WORKGROUP_X", "WORKGROUP_Y", "WORKGROUP_Z"};
  for (size_t i = 0; i < 3; ++i)
    request.defines.emplace_back(names[i], std::to_string(key.workgroup_size[i]));
  if (key.subgroup_size > 0) request.defines.emplace_back("SUBGROUP", std::to_string(key.subgroup_size));
  return request;
}

vk::DescriptorType descriptor_type(BindingType type) {
  switch (type) {
    case BindingType::storage_image:
      return vk::DescriptorType::eStorageImage;
    case BindingType::sampled_image:
    case BindingType::planes_image:
      return vk::DescriptorType::eCombinedImageSampler;
    case BindingType::uniform_buffer:
      return vk::DescriptorType::eUniformBuffer;
    case BindingType::texel_buffer_rgba32f:
    case BindingType::texel_buffer_rgba16f:
    case BindingType::texel_buffer_rgba8ui:
    case BindingType::texel_buffer_rgba32ui:
      return vk::DescriptorType::eStorageTexelBuffer;
    case BindingType::sampled_buffer_rgba32f:
    case BindingType::sampled_buffer_rgba16f:
    case BindingType::sampled_buffer_rgba8ui:
    case BindingType::sampled_buffer_rgba32ui:
      return vk::DescriptorType::eUniformTexelBuffer;
    case BindingType::storage_buffer:
      break;
  }
  return vk::DescriptorType::eStorageBuffer;
}

namespace {

PipelineObjects create_pipeline_of(std::span<const uint32_t> words, Context::Impl& device,
                                   const PipelineKey& key, const vk::raii::PipelineCache* cache,
                                   vk::PipelineCreateFlags flags) {
  check_interface(key, words);
  return translated("creating a pipeline of shader " + key.shader, [&] {
    PipelineObjects objects;
    vk::ShaderModuleCreateInfo module_info;
    module_info.setCodeSize(words.size_bytes()).setPCode(words.data());
    const vk::raii::ShaderModule module(device.device, module_info, device.allocator());
    vk::PipelineLayoutCreateInfo layout;
    if (!key.bindings.empty()) {
      objects.set_layout = create_set_layout(device, key);
      layout.setSetLayouts(*objects.set_layout);
    }
    const vk::PushConstantRange range(vk::ShaderStageFlagBits::eCompute, 0, key.push_constant_bytes);
    if (range.size > 0) layout.setPushConstantRanges(range);
    objects.layout = vk::raii::PipelineLayout(device.device, layout, device.allocator());
    vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *module, "main");
    const vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups(key.subgroup_size);
    if (key.subgroup_size > 0) {
      stage.setFlags(vk::PipelineShaderStageCreateFlagBits::eRequireFullSubgroups);
      if (device.physical.subgroups.sets_size) stage.setPNext(&subgroups);
    }
    if (key.dispatch_base) flags |= vk::PipelineCreateFlagBits::eDispatchBase;
    objects.pipeline =
        vk::raii::Pipeline(device.device, cache, vk::ComputePipelineCreateInfo(flags, stage, *objects.layout),
                           device.allocator());
    return objects;
  });
}

// Another module would end the same way.
bool has_no_memory_or_device(const Error& error) {
  return error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::device_lost;
}

}  // namespace

PipelineObjects create_pipeline(Context::Impl& device, const PipelineKey& key,
                                const vk::raii::PipelineCache* cache, vk::PipelineCreateFlags flags) {
  check_bindings(key, device);
  check_workgroup(key, device.caps);
  if (key.subgroup_size > 0) check_subgroups(key, device);
  check_push_constants(key, device.caps);
  const ShaderRequest request = shader_request(key);
  const ShaderCompiler::Module module = device.shader_compiler.find(request);
  try {
    return create_pipeline_of(module.words, device, key, cache, flags);
  } catch (const Error& error) {
    if (!module.from_disk || has_no_memory_or_device(error)) throw;
    if (device.options.log)
      device.options.log(LogLevel::warning, "shader " + key.shader +
                                                " is compiled again, because its cached module " +
                                                "was not usable: " + error.what());
  }
  return create_pipeline_of(device.shader_compiler.replace(request), device, key, cache, flags);
}

struct Pipeline::Impl {
  PipelineKey key;
  PipelineObjects objects;
};

Pipeline::Pipeline(Context& context, const PipelineCache& cache, PipelineKey key)
    : impl_(std::make_unique<Impl>()) {
  impl_->objects = create_pipeline(context.impl(), key, &cache.handle(), {});
  impl_->key = std::move(key);
  context.name_object(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<uint64_t>(handle()), impl_->key.shader);
}

Pipeline::~Pipeline() = default;

const PipelineKey& Pipeline::key() const { return impl_->key; }
VkPipeline Pipeline::handle() const { return *impl_->objects.pipeline; }
VkPipelineLayout Pipeline::layout() const { return *impl_->objects.layout; }
VkDescriptorSetLayout Pipeline::set_layout() const { return *impl_->objects.set_layout; }

}  // namespace vellum::gpu

#include "vulkan/descriptors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vulkan/buffer.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/image.hpp"
#include "vulkan/pipeline_cache.hpp"

namespace vellum::gpu {
namespace {

using PipelinePointer = std::shared_ptr<const Pipeline>;

// Creates a pool for exactly these sets; none if they are all empty.
vk::raii::DescriptorPool create_pool(Context::Impl& context, std::span<const PipelinePointer> pipelines) {
  std::map<vk::DescriptorType, uint32_t> counts;
  uint32_t sets = 0;
  for (const PipelinePointer& pipeline : pipelines) {
    sets += pipeline->key().bindings.empty() ? 0 : 1;
    for (const BindingType type : pipeline->key().bindings)
      counts[descriptor_type(type)] +=
          type == BindingType::planes_image
              ? context.ycbcr_samplers.get(context, pipeline->key().planes).descriptors
              : 1;
  }
  if (sets == 0) return vk::raii::DescriptorPool(nullptr);
  std::vector<vk::DescriptorPoolSize> sizes;
  sizes.reserve(counts.size());
  for (const auto& [type, count] : counts) sizes.emplace_back(type, count);
  return {context.device, vk::DescriptorPoolCreateInfo({}, sets, sizes), context.allocator()};
}

[[noreturn]] void fail(ErrorCode code, const Pipeline& pipeline, size_t binding, const std::string& fault) {
  throw Error(code,
              "shader " + pipeline.key().shader + ", binding " + std::to_string(binding) + ": " + fault);
}

bool is_image(BindingType type) {
  return type == BindingType::storage_image || type == BindingType::sampled_image ||
         type == BindingType::planes_image;
}

// The format of the texels, where the binding is a texel buffer.
std::optional<ImageFormat> texel_format(BindingType type) {
  switch (type) {
    case BindingType::texel_buffer_rgba32f:
    case BindingType::sampled_buffer_rgba32f:
      return ImageFormat::rgba32f;
    case BindingType::texel_buffer_rgba16f:
    case BindingType::sampled_buffer_rgba16f:
      return ImageFormat::rgba16f;
    case BindingType::texel_buffer_rgba8ui:
    case BindingType::sampled_buffer_rgba8ui:
      return ImageFormat::rgba8ui;
    case BindingType::texel_buffer_rgba32ui:
    case BindingType::sampled_buffer_rgba32ui:
      return ImageFormat::rgba32ui;
    default:
      return std::nullopt;
  }
}

bool is_texel_buffer(BindingType type) { return texel_format(type).has_value(); }

void check_aligned(uint64_t offset, uint64_t alignment, const Pipeline& pipeline, size_t binding) {
  if (offset % alignment != 0)
    fail(ErrorCode::invalid_argument, pipeline, binding,
         "the offset " + std::to_string(offset) + " is not a multiple of " + std::to_string(alignment));
}

vk::DescriptorBufferInfo buffer_range(const Context& context, const Pipeline& pipeline, size_t binding,
                                      const BoundResource& resource) {
  const uint64_t size = resource.buffer_bytes;
  if (resource.offset >= size || (resource.bytes != VK_WHOLE_SIZE && resource.bytes > size - resource.offset))
    fail(ErrorCode::invalid_argument, pipeline, binding, "the range ends beyond the buffer");
  const uint64_t bytes = resource.bytes == VK_WHOLE_SIZE ? size - resource.offset : resource.bytes;
  if (bytes == 0) fail(ErrorCode::invalid_argument, pipeline, binding, "the range is empty");
  if (pipeline.key().bindings[binding] == BindingType::storage_buffer) {
    const DeviceCaps& caps = context.caps();
    check_aligned(resource.offset, caps.min_storage_buffer_offset_alignment, pipeline, binding);
    if (bytes > caps.max_storage_buffer_range)
      fail(ErrorCode::unsupported, pipeline, binding,
           std::to_string(bytes) + " bytes, more than the " + std::to_string(caps.max_storage_buffer_range) +
               " that shaders reach on " + caps.name);
  }
  return {resource.buffer, resource.offset, bytes};
}

vk::raii::BufferView texel_view(const Context& context, const Pipeline& pipeline, size_t binding,
                                const vk::DescriptorBufferInfo& range) {
  const DeviceCaps& caps = context.caps();
  const ImageFormat texel = *texel_format(pipeline.key().bindings[binding]);
  const uint64_t texels = range.range / bytes_per_texel(texel);
  check_aligned(range.offset, caps.min_texel_buffer_offset_alignment, pipeline, binding);
  if (texels > caps.max_texel_buffer_elements)
    fail(ErrorCode::unsupported, pipeline, binding,
         std::to_string(texels) + " texels, more than the " + std::to_string(caps.max_texel_buffer_elements) +
             " of a texel buffer on " + caps.name);
  const auto format = static_cast<vk::Format>(vk_format(texel));
  return {context.impl().device,
          vk::BufferViewCreateInfo({}, range.buffer, format, range.offset, range.range),
          context.impl().allocator()};
}

}  // namespace

BoundResource::BoundResource(const Buffer& bound, uint64_t first, uint64_t range)
    : BoundResource(bound.handle(), bound.size(), first, range) {}

struct DescriptorSets::Impl {
  std::shared_ptr<Context> context;
  std::vector<PipelinePointer> pipelines;
  vk::raii::DescriptorPool pool{nullptr};
  std::vector<vk::DescriptorSet> sets;                   // freed with the pool
  std::vector<std::vector<vk::raii::BufferView>> views;  // per set: those it refers to
};

DescriptorSets::DescriptorSets(std::shared_ptr<Context> context, std::span<const PipelinePointer> pipelines)
    : impl_(new Impl) {
  impl_->context = std::move(context);
  impl_->pipelines.assign(pipelines.begin(), pipelines.end());
  impl_->sets.resize(pipelines.size());
  impl_->views.resize(pipelines.size());
  std::vector<vk::DescriptorSetLayout> layouts;
  for (const PipelinePointer& pipeline : pipelines)
    if (!pipeline->key().bindings.empty()) layouts.emplace_back(pipeline->set_layout());
  if (layouts.empty()) return;
  translated("creating descriptor sets", [&] {
    const vk::raii::Device& device = impl_->context->impl().device;
    impl_->pool = create_pool(impl_->context->impl(), pipelines);
    const vk::DescriptorSetAllocateInfo info(*impl_->pool, layouts);
    // Not vk::raii::DescriptorSet, because that frees each set separately.
    std::vector<vk::DescriptorSet> sets = (*device).allocateDescriptorSets(info, *device.getDispatcher());
    for (size_t i = 0, next = 0; i < pipelines.size(); ++i)
      if (!pipelines[i]->key().bindings.empty()) impl_->sets[i] = sets[next++];
  });
}

DescriptorSets::~DescriptorSets() = default;
DescriptorSets::DescriptorSets(DescriptorSets&&) noexcept = default;
DescriptorSets& DescriptorSets::operator=(DescriptorSets&&) noexcept = default;

size_t DescriptorSets::size() const { return impl_->sets.size(); }
VkDescriptorSet DescriptorSets::operator[](size_t index) const { return impl_->sets[index]; }

void DescriptorSets::write(size_t index, std::span<const BoundResource> resources) {
  const Pipeline& pipeline = *impl_->pipelines.at(index);
  const std::vector<BindingType>& bindings = pipeline.key().bindings;
  if (resources.size() != bindings.size())
    throw Error(ErrorCode::invalid_argument, "shader " + pipeline.key().shader + " has " +
                                                 std::to_string(bindings.size()) + " bindings, " +
                                                 std::to_string(resources.size()) + " resources were given");
  std::vector<vk::DescriptorBufferInfo> buffers(bindings.size());
  std::vector<vk::DescriptorImageInfo> images(bindings.size());
  std::vector<vk::BufferView> texels(bindings.size());
  std::vector<vk::raii::BufferView> views;
  std::vector<vk::WriteDescriptorSet> writes;
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (is_image(bindings[i]) != (resources[i].image || resources[i].view))
      fail(ErrorCode::invalid_argument, pipeline, i, "an image and a buffer were taken for each other");
    vk::WriteDescriptorSet write(impl_->sets[index], static_cast<uint32_t>(i), 0, 1,
                                 descriptor_type(bindings[i]));
    if (resources[i].image)
      images[i] = {{}, resources[i].image->view(), vk::ImageLayout::eGeneral};
    else if (resources[i].view)
      images[i] = {{}, resources[i].view, vk::ImageLayout(resources[i].layout)};
    else
      buffers[i] = buffer_range(*impl_->context, pipeline, i, resources[i]);
    if (is_texel_buffer(bindings[i])) {
      views.push_back(translated("creating a view of a buffer",
                                 [&] { return texel_view(*impl_->context, pipeline, i, buffers[i]); }));
      texels[i] = *views.back();
    }
    write.setPImageInfo(&images[i]).setPBufferInfo(&buffers[i]).setPTexelBufferView(&texels[i]);
    writes.push_back(write);
  }
  impl_->context->impl().device.updateDescriptorSets(writes, {});
  impl_->views[index] = std::move(views);
}

}  // namespace vellum::gpu

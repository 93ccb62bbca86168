#include "vulkan/commands.hpp"

#include <bit>
#include <string>
#include <vector>

#include "vulkan/buffer.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/image.hpp"
#include "vulkan/pipeline.hpp"

namespace vellum::gpu {

struct CommandBuffer::Impl {
  std::shared_ptr<Context> context;
  vk::raii::CommandPool pool{nullptr};  // none for the application's command buffer
  vk::CommandBuffer buffer;             // freed with its pool

  const auto& functions() const { return *context->impl().device.getDispatcher(); }
  void transfer_ownership(std::span<const OwnedResource> resources, bool acquires);
  void begin(vk::CommandBufferUsageFlags usage) {
    translated("recording commands", [&] {
      pool.reset();
      buffer.begin(vk::CommandBufferBeginInfo(usage), functions());
    });
  }
};

uint32_t queue_family_count(const Context& context) {
  return static_cast<uint32_t>(context.impl().physical.handle.getQueueFamilyProperties().size());
}

bool knows_foreign_owners(const Context& context) {
  return context.impl().physical.external_extensions.foreign_queues;
}

CommandBuffer::CommandBuffer(std::shared_ptr<Context> context, VkCommandBuffer recorded_to)
    : impl_(new Impl) {
  impl_->context = std::move(context);
  impl_->buffer = recorded_to;
}

CommandBuffer::CommandBuffer(std::shared_ptr<Context> context)
    : CommandBuffer(std::move(context), QueueKind::compute) {}

CommandBuffer::CommandBuffer(std::shared_ptr<Context> context, QueueKind queue) : impl_(new Impl) {
  impl_->context = std::move(context);
  translated("creating a command buffer", [&] {
    const Context::Impl& device = impl_->context->impl();
    impl_->pool = vk::raii::CommandPool(device.device, {{}, device.queue_family(queue)}, device.allocator());
    const vk::CommandBufferAllocateInfo info(*impl_->pool, vk::CommandBufferLevel::ePrimary, 1);
    impl_->buffer = (*device.device).allocateCommandBuffers(info, impl_->functions()).front();
  });
}

CommandBuffer::~CommandBuffer() = default;
CommandBuffer::CommandBuffer(CommandBuffer&&) noexcept = default;
CommandBuffer& CommandBuffer::operator=(CommandBuffer&&) noexcept = default;

VkCommandBuffer CommandBuffer::handle() const { return impl_->buffer; }

void CommandBuffer::begin(bool once) {
  impl_->begin(once ? vk::CommandBufferUsageFlagBits::eOneTimeSubmit : vk::CommandBufferUsageFlags());
}

void CommandBuffer::begin_simultaneous_use() {
  impl_->begin(vk::CommandBufferUsageFlagBits::eSimultaneousUse);
}

void CommandBuffer::end() {
  translated("recording commands", [&] { impl_->buffer.end(impl_->functions()); });
}

const Context& CommandBuffer::context() const { return *impl_->context; }

void CommandBuffer::bind(const Pipeline& pipeline, VkDescriptorSet set) {
  impl_->buffer.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline.handle(), impl_->functions());
  if (set) {
    const vk::DescriptorSet sets[] = {set};
    impl_->buffer.bindDescriptorSets(vk::PipelineBindPoint::eCompute, pipeline.layout(), 0, sets, {},
                                     impl_->functions());
  }
}

void CommandBuffer::push_constants(const Pipeline& pipeline, std::span<const std::byte> bytes) {
  if (bytes.size() != pipeline.key().push_constant_bytes)
    throw Error(ErrorCode::internal, "shader " + pipeline.key().shader + " has " +
                                         std::to_string(pipeline.key().push_constant_bytes) +
                                         " bytes of push constants, " + std::to_string(bytes.size()) +
                                         " were given");
  if (bytes.empty()) return;
  impl_->buffer.pushConstants<std::byte>(pipeline.layout(), vk::ShaderStageFlagBits::eCompute, 0,
                                         {static_cast<uint32_t>(bytes.size()), bytes.data()},
                                         impl_->functions());
}

namespace {

void check_workgroup_count(const DeviceCaps& caps, std::array<uint32_t, 3> workgroup_count) {
  for (size_t i = 0; i < 3; ++i)
    if (workgroup_count[i] > caps.max_workgroup_count[i])
      throw Error(ErrorCode::unsupported, "a dispatch of " + std::to_string(workgroup_count[i]) +
                                              " workgroups along one side, more than the " +
                                              std::to_string(caps.max_workgroup_count[i]) + " of " +
                                              caps.name);
}

}  // namespace

void CommandBuffer::dispatch(std::array<uint32_t, 3> workgroup_count) {
  check_workgroup_count(impl_->context->caps(), workgroup_count);
  impl_->buffer.dispatch(workgroup_count[0], workgroup_count[1], workgroup_count[2], impl_->functions());
}

void CommandBuffer::dispatch_from(std::array<uint32_t, 3> first, std::array<uint32_t, 3> workgroup_count) {
  check_workgroup_count(impl_->context->caps(), workgroup_count);
  impl_->buffer.dispatchBase(first[0], first[1], first[2], workgroup_count[0], workgroup_count[1],
                             workgroup_count[2], impl_->functions());
}

void CommandBuffer::dispatch_indirect(const Buffer& counts, uint64_t offset) {
  impl_->buffer.dispatchIndirect(counts.handle(), offset, impl_->functions());
}

void CommandBuffer::barrier(Scope before, Scope after, std::span<const ImageTransition> transitions) {
  const vk::AccessFlags from(before.access), to(after.access);
  std::vector<vk::ImageMemoryBarrier> images;
  for (const ImageTransition& transition : transitions)
    images.emplace_back(from, to, vk::ImageLayout(transition.from), vk::ImageLayout(transition.to),
                        VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, transition.image->handle(),
                        vk::ImageSubresourceRange(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1));
  impl_->buffer.pipelineBarrier(vk::PipelineStageFlags(before.stages), vk::PipelineStageFlags(after.stages),
                                {}, vk::MemoryBarrier(from, to), {}, images, impl_->functions());
}

// An acquisition follows what compute shaders wait for, such as a submit's semaphores. The half of the other
// owner makes the writes available, and makes those of this one visible (Vulkan specification, "Queue Family
// Ownership Transfer").
void CommandBuffer::Impl::transfer_ownership(std::span<const OwnedResource> resources, bool acquires) {
  if (resources.empty()) return;
  using Access = vk::AccessFlagBits;
  const vk::AccessFlags written = acquires ? vk::AccessFlags() : Access::eShaderWrite;
  const vk::AccessFlags used = acquires ? Access::eShaderRead | Access::eShaderWrite : vk::AccessFlags();
  const uint32_t own = context->impl().queue_family(QueueKind::compute);
  std::vector<vk::BufferMemoryBarrier> buffers;
  std::vector<vk::ImageMemoryBarrier> images;
  for (const OwnedResource& resource : resources) {
    const uint32_t from = acquires ? resource.owner : own, to = acquires ? own : resource.owner;
    const auto layout = vk::ImageLayout(resource.layout);
    if (resource.image)
      images.emplace_back(written, used, layout, layout, from, to, resource.image,
                          vk::ImageSubresourceRange(vk::ImageAspectFlagBits::eColor, resource.mip_level, 1,
                                                    resource.array_layer, 1));
    else
      buffers.emplace_back(written, used, from, to, resource.buffer, resource.offset, resource.bytes);
  }
  constexpr auto compute = vk::PipelineStageFlagBits::eComputeShader;
  buffer.pipelineBarrier(compute, acquires ? compute : vk::PipelineStageFlagBits::eBottomOfPipe, {}, {},
                         buffers, images, functions());
}

void CommandBuffer::acquire(std::span<const OwnedResource> resources) {
  impl_->transfer_ownership(resources, true);
}

void CommandBuffer::release(std::span<const OwnedResource> resources) {
  impl_->transfer_ownership(resources, false);
}

void CommandBuffer::copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
                         uint64_t bytes) {
  copy(from.handle(), from_offset, to.handle(), to_offset, bytes);
}

void CommandBuffer::copy(VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset,
                         uint64_t bytes) {
  impl_->buffer.copyBuffer(from, to, vk::BufferCopy(from_offset, to_offset, bytes), impl_->functions());
}

void CommandBuffer::fill(const Buffer& buffer, uint64_t offset, uint64_t bytes, uint32_t value) {
  impl_->buffer.fillBuffer(buffer.handle(), offset, bytes, value, impl_->functions());
}

void CommandBuffer::fill_with_ones(const Image& image) {
  vk::ClearColorValue ones;
  if (image.desc().format == ImageFormat::rgba8ui)
    ones.uint32 = {{UINT8_MAX, UINT8_MAX, UINT8_MAX, UINT8_MAX}};
  else
    ones.float32.fill(std::bit_cast<float>(UINT32_MAX));
  impl_->buffer.clearColorImage(image.handle(), vk::ImageLayout::eGeneral, ones,
                                vk::ImageSubresourceRange(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1),
                                impl_->functions());
}

void CommandBuffer::begin_label(const std::string& label) {
  impl_->buffer.beginDebugUtilsLabelEXT(vk::DebugUtilsLabelEXT(label.c_str()), impl_->functions());
}

void CommandBuffer::end_label() { impl_->buffer.endDebugUtilsLabelEXT(impl_->functions()); }

}  // namespace vellum::gpu

#include "vulkan/context_impl.hpp"
#include "vulkan/external/handle_bits.hpp"
#include "vulkan/external/handle_types.hpp"
#include "vulkan/external/hardware_buffer.hpp"
#include "vulkan/external/memory.hpp"
#include "vulkan/external/resources.hpp"

namespace vellum {

// The order matters: the image is destroyed before its memory.
struct ExternalImage::Impl {
  std::shared_ptr<gpu::Context> context;
  gpu::ImageFormatId format;
  bool exportable = false;
  gpu::ExportableMemory memory;
  gpu::vk::raii::Image image{nullptr};
};

VkImage ExternalImage::handle() const { return *checked().image; }
VkFormat ExternalImage::format() const { return checked().format.format; }
uint64_t ExternalImage::external_format() const { return checked().format.external; }

ExternalMemory ExternalImage::export_memory() const {
  const Impl& impl = checked();
  if (!impl.exportable)
    throw Error(ErrorCode::unsupported, "the image's memory was imported: its exporter has it to share");
  return gpu::export_memory(*impl.context, impl.memory);
}

const ExternalImage::Impl& ExternalImage::checked() const {
  if (!impl_)
    throw Error(ErrorCode::invalid_argument, "there is no shared image: it was not imported or made");
  return *impl_;
}

}  // namespace vellum

namespace vellum::gpu {
namespace {

std::shared_ptr<ExternalImage::Impl> unbound_image(const std::shared_ptr<Context>& context,
                                                   VkImageCreateInfo info, ExternalHandleType type) {
  std::shared_ptr<ExternalImage::Impl> impl(new ExternalImage::Impl, DeleteWhenIdle());
  VkExternalMemoryImageCreateInfo external{
      VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, info.pNext,
      static_cast<VkExternalMemoryHandleTypeFlags>(memory_type_bit(type))};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.pNext = &external;
  impl->image = translated("creating a shared image", [&] {
    return vk::raii::Image(context->impl().device, vk::ImageCreateInfo(info), context->impl().allocator());
  });
  impl->context = context;
  impl->format.format = info.format;
  return impl;
}

void bind(ExternalImage::Impl& impl) {
  translated("binding an image to shared memory", [&] { impl.image.bindMemory(*impl.memory.memory, 0); });
}

// The format of a hardware buffer; external if it is one of the driver's own that has no name in Vulkan.
ImageFormatId hardware_buffer_format(const Context& context, const ExternalMemory& memory, VkFormat wanted) {
  if (!memory.handle) throw Error(ErrorCode::invalid_argument, "the hardware buffer is null");
  const HardwareBufferProperties found = translated(
      "importing a hardware buffer", [&] { return hardware_buffer_properties(context, memory.handle); });
  if (wanted != VK_FORMAT_UNDEFINED && wanted != found.format)
    throw Error(ErrorCode::invalid_argument, "the hardware buffer has the format " +
                                                 vk::to_string(vk::Format(found.format)) + ", not " +
                                                 vk::to_string(vk::Format(wanted)));
  if (found.format != VK_FORMAT_UNDEFINED) return {found.format};
  if (!found.external_format)
    refuse_external(context, ExternalUse::import_handle, "images without a format", memory.type,
                    "the buffer holds no image");
  YcbcrSamplers& samplers = context.impl().ycbcr_samplers;
  samplers.add(found.external_format, found.external);
  samplers.get(context.impl(), {VK_FORMAT_UNDEFINED, found.external_format});  // throws if it cannot be read
  return {VK_FORMAT_UNDEFINED, found.external_format};
}

// The resource for importing a hardware buffer, whose requirements Vulkan reports only after the import.
ExternalResource hardware_buffer_resource(const ExternalImage::Impl& impl) {
  ExternalResource resource;
  resource.image = *impl.image;
  resource.needed = vk::MemoryRequirements(0, 1, ~0u);
  resource.dedicated = true;
  return resource;
}

std::shared_ptr<ExternalImage::Impl> import_hardware_buffer(const std::shared_ptr<Context>& context,
                                                            const ExternalMemory& memory,
                                                            VkImageCreateInfo info) {
  if (!context->impl().physical.external_extensions.hardware_buffer)
    require_image(*context, ExternalUse::import_handle, memory.type, info);  // says what is missing
  const ImageFormatId format = hardware_buffer_format(*context, memory, info.format);
  info.format = format.format;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.extent.depth = info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  VkExternalFormatANDROID external{VK_STRUCTURE_TYPE_EXTERNAL_FORMAT_ANDROID, const_cast<void*>(info.pNext),
                                   format.external};
  if (format.external)
    info.pNext = &external;  // Vulkan has no question for what such an image may be
  else
    require_image(*context, ExternalUse::import_handle, memory.type, info);
  auto impl = unbound_image(context, info, memory.type);
  impl->format = format;
  impl->memory.memory = import_memory(*context, memory, hardware_buffer_resource(*impl), 0).memory;
  bind(*impl);
  return impl;
}

}  // namespace

std::shared_ptr<ExternalImage::Impl> import_image(const std::shared_ptr<Context>& context,
                                                  const ExternalMemory& memory, VkImageCreateInfo info) {
  if (memory.type == ExternalHandleType::android_hardware_buffer)
    return import_hardware_buffer(context, memory, info);
  const bool dedicated_only = require_image(*context, ExternalUse::import_handle, memory.type, info);
  auto impl = unbound_image(context, info, memory.type);
  const ExternalResource resource = external_resource(*context, *impl->image, dedicated_only);
  impl->memory.memory = import_memory(*context, memory, resource, 0).memory;
  bind(*impl);
  consume(memory);
  return impl;
}

std::shared_ptr<ExternalImage::Impl> make_external_image(const std::shared_ptr<Context>& context,
                                                         VkImageCreateInfo info, ExternalHandleType type) {
  const bool dedicated_only = require_image(*context, ExternalUse::export_handle, type, info);
  auto impl = unbound_image(context, info, type);
  impl->memory =
      allocate_exportable(*context, type, external_resource(*context, *impl->image, dedicated_only));
  impl->exportable = true;
  bind(*impl);
  return impl;
}

}  // namespace vellum::gpu

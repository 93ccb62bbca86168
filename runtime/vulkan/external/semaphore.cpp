#include "platform/file_descriptor.hpp"
#include "vulkan/context_impl.hpp"
#include "vulkan/external/handle_bits.hpp"
#include "vulkan/external/handle_types.hpp"
#include "vulkan/external/resources.hpp"
#include "vulkan/external/win32.hpp"

namespace vellum {

struct ExternalSemaphore::Impl {
  std::shared_ptr<gpu::Context> context;
  ExternalHandleType type{};
  bool is_timeline = false;
  bool exportable = false;
  gpu::vk::raii::Semaphore semaphore{nullptr};
};

VkSemaphore ExternalSemaphore::handle() const { return *checked().semaphore; }

ExternalSemaphoreHandle ExternalSemaphore::export_handle() const {
  const Impl& impl = checked();
  if (!impl.exportable)
    throw Error(ErrorCode::unsupported, "the semaphore was imported: its exporter has it to share");
  ExternalSemaphoreHandle exported{impl.type, -1, nullptr, impl.is_timeline};
  gpu::translated("exporting a semaphore", [&] {
    if (impl.type == ExternalHandleType::opaque_win32)
      exported.handle = gpu::export_win32_semaphore(*impl.context, *impl.semaphore);
    else
      exported.fd = impl.context->impl().device.getSemaphoreFdKHR(
          {*impl.semaphore, gpu::semaphore_type_bit(impl.type)});
  });
  return exported;
}

const ExternalSemaphore::Impl& ExternalSemaphore::checked() const {
  if (!impl_)
    throw Error(ErrorCode::invalid_argument, "there is no shared semaphore: it was not imported or made");
  return *impl_;
}

}  // namespace vellum

namespace vellum::gpu {
namespace {

std::shared_ptr<ExternalSemaphore::Impl> new_semaphore(const std::shared_ptr<Context>& context,
                                                       ExternalHandleType type, bool is_timeline,
                                                       bool exportable) {
  std::shared_ptr<ExternalSemaphore::Impl> impl(new ExternalSemaphore::Impl, DeleteWhenIdle());
  vk::SemaphoreCreateInfo info;
  vk::ExportSemaphoreCreateInfo to_export(semaphore_type_bit(type));
  vk::SemaphoreTypeCreateInfo timeline(vk::SemaphoreType::eTimeline, 0);
  if (exportable) info.setPNext(&to_export);
  if (is_timeline) {
    timeline.setPNext(info.pNext);
    info.setPNext(&timeline);
  }
  impl->semaphore = translated("creating a shared semaphore", [&] {
    return vk::raii::Semaphore(context->impl().device, info, context->impl().allocator());
  });
  impl->context = context;
  impl->type = type;
  impl->is_timeline = is_timeline;
  impl->exportable = exportable;
  return impl;
}

// The driver takes the file descriptor if this succeeds, which is the last thing that can fail.
void import_fd(const Context& context, vk::Semaphore semaphore, const ExternalSemaphoreHandle& imported) {
  const bool is_fence = imported.type == ExternalHandleType::sync_fd;
  if (imported.fd < (is_fence ? -1 : 0))
    throw Error(ErrorCode::invalid_argument,
                "a semaphore as " + std::string(name(imported.type)) + ": there is no file descriptor");
  // Drivers need not check what a descriptor is.
  if (imported.fd >= 0) platform::FileDescriptor::duplicate(imported.fd);
  context.impl().device.importSemaphoreFdKHR(
      {semaphore, is_fence ? vk::SemaphoreImportFlagBits::eTemporary : vk::SemaphoreImportFlags(),
       semaphore_type_bit(imported.type), imported.fd});
}

}  // namespace

std::shared_ptr<ExternalSemaphore::Impl> import_semaphore(const std::shared_ptr<Context>& context,
                                                          const ExternalSemaphoreHandle& semaphore) {
  if (semaphore.is_timeline && semaphore.type == ExternalHandleType::sync_fd)
    throw Error(ErrorCode::invalid_argument, "a sync_fd is no timeline semaphore");
  require_semaphore(*context, ExternalUse::import_handle, semaphore.type, semaphore.is_timeline);
  auto impl = new_semaphore(context, semaphore.type, semaphore.is_timeline, false);
  translated("importing a semaphore", [&] {
    if (semaphore.type != ExternalHandleType::opaque_win32)
      import_fd(*context, *impl->semaphore, semaphore);
    else if (semaphore.handle)
      import_win32_semaphore(*context, *impl->semaphore, semaphore.handle);
    else
      throw Error(ErrorCode::invalid_argument, "a semaphore as opaque_win32: the handle is null");
  });
  return impl;
}

std::shared_ptr<ExternalSemaphore::Impl> make_external_semaphore(const std::shared_ptr<Context>& context,
                                                                 ExternalHandleType type, bool is_timeline) {
  if (is_timeline && type == ExternalHandleType::sync_fd)
    throw Error(ErrorCode::invalid_argument, "a sync_fd is no timeline semaphore");
  require_semaphore(*context, ExternalUse::export_handle, type, is_timeline);
  return new_semaphore(context, type, is_timeline, true);
}

}  // namespace vellum::gpu

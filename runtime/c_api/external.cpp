// Shared memory and semaphores, for C.
#include "vellum/external.hpp"

#include <algorithm>
#include <cstddef>

#include "c_api/support.hpp"
#include "vellum/vellum_external.h"

struct vellum_external_buffer {
  vellum::ExternalBuffer buffer;
};

struct vellum_external_image {
  vellum::ExternalImage image;
};

struct vellum_external_semaphore {
  vellum::ExternalSemaphore semaphore;
};

struct vellum_hardware_frames {
  vellum::HardwareFrames frames;
};

using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::c_api::write_defaults;
using vellum::c_api::write_result;

namespace {

vellum_external_memory external_memory_defaults() noexcept {
  vellum_external_memory memory{};
  memory.size = sizeof memory;
  memory.fd = -1;
  return memory;
}

vellum_external_semaphore_handle semaphore_handle_defaults() noexcept {
  vellum_external_semaphore_handle handle{};
  handle.size = sizeof handle;
  handle.fd = -1;
  return handle;
}

vellum::ExternalHandleType external_type(vellum_external_type type) {
  if (type < VELLUM_OPAQUE_FD || type > VELLUM_ANDROID_HARDWARE_BUFFER)
    throw vellum::Error(vellum::ErrorCode::invalid_argument,
                        "there is no vellum_external_type " + std::to_string(type));
  return static_cast<vellum::ExternalHandleType>(type);
}

vellum::ExternalMemory external_memory(const vellum_external_memory* c_memory) {
  require(c_memory, "memory");
  const vellum_external_memory memory = given_or_default(c_memory, external_memory_defaults());
  return {external_type(memory.type), memory.fd, memory.handle, memory.bytes, memory.memory_type,
          memory.dedicated != 0};
}

void write_memory(vellum_external_memory* to, const vellum::ExternalMemory& memory) {
  write_result(to,
               {0, static_cast<vellum_external_type>(memory.type), memory.fd, memory.handle, memory.bytes,
                memory.memory_type, memory.dedicated},
               "memory");
}

// Before a handle is made that would be lost.
template <typename Result>
void require_sized(const Result* to, const char* name) {
  require(to, name);
  if (to->size < sizeof(size_t) + sizeof(void*))
    throw vellum::Error(vellum::ErrorCode::invalid_argument,
                        std::string(name) + ": its size is not set; fill it with its _init function");
}

// Gives the caller a new object that holds what `make` returns.
template <typename Object, typename Make>
vellum_status make_object(Object** object, vellum_error* error, Make&& make) noexcept {
  if (object) *object = nullptr;
  return guarded(error, [&] {
    require(object, "the place of the result");
    *object = new Object{make()};
  });
}

}  // namespace

vellum_status vellum_device_external_support(const vellum_device* device, vellum_external_type type,
                                             vellum_external_support* support, vellum_error* error) {
  return guarded(error, [&] {
    require(device, "device");
    const std::vector<vellum::ExternalSupport> all = vellum::external_support(device->device);
    const auto found = std::ranges::find(all, external_type(type), &vellum::ExternalSupport::type);
    vellum_external_support result{};
    if (found != all.end())
      result = {0,
                found->imports_buffers,
                found->exports_buffers,
                found->imports_semaphores,
                found->exports_semaphores,
                found->imports_timelines,
                found->exports_timelines};
    write_result(support, result, "support");
  });
}

void vellum_external_memory_init_sized(vellum_external_memory* memory, size_t size) {
  write_defaults(memory, size, external_memory_defaults());
}

void(vellum_external_memory_init)(vellum_external_memory* memory) {
  constexpr size_t end = offsetof(vellum_external_memory, dedicated) + sizeof(memory->dedicated);
  write_defaults(memory, vellum::c_api::size_that_ends_at<vellum_external_memory>(end),
                 external_memory_defaults());
}

vellum_status vellum_external_buffer_import(const vellum_device* device, const vellum_external_memory* memory,
                                            VkDeviceSize bytes, VkBufferUsageFlags usage, VkDeviceSize offset,
                                            vellum_external_buffer** buffer, vellum_error* error) {
  return make_object(buffer, error, [&] {
    require(device, "device");
    return vellum::ExternalBuffer::import(device->device, external_memory(memory), bytes, usage, offset);
  });
}

vellum_status vellum_external_buffer_make(const vellum_device* device, VkDeviceSize bytes,
                                          VkBufferUsageFlags usage, vellum_external_type type,
                                          vellum_external_buffer** buffer, vellum_error* error) {
  return make_object(buffer, error, [&] {
    require(device, "device");
    return vellum::ExternalBuffer::make(device->device, bytes, usage, external_type(type));
  });
}

void vellum_external_buffer_destroy(vellum_external_buffer* buffer) { delete buffer; }

VkBuffer vellum_external_buffer_handle(const vellum_external_buffer* buffer) {
  return buffer ? buffer->buffer.handle() : VK_NULL_HANDLE;
}

void* vellum_external_buffer_data(const vellum_external_buffer* buffer) {
  return buffer ? buffer->buffer.data() : nullptr;
}

vellum_status vellum_external_buffer_export(const vellum_external_buffer* buffer,
                                            vellum_external_memory* memory, vellum_error* error) {
  return guarded(error, [&] {
    require(buffer, "buffer");
    require_sized(memory, "memory");
    write_memory(memory, buffer->buffer.export_memory());
  });
}

vellum_status vellum_external_image_import(const vellum_device* device, const vellum_external_memory* memory,
                                           const VkImageCreateInfo* info, vellum_external_image** image,
                                           vellum_error* error) {
  return make_object(image, error, [&] {
    require(device, "device");
    require(info, "info");
    return vellum::ExternalImage::import(device->device, external_memory(memory), *info);
  });
}

vellum_status vellum_external_image_make(const vellum_device* device, const VkImageCreateInfo* info,
                                         vellum_external_type type, vellum_external_image** image,
                                         vellum_error* error) {
  return make_object(image, error, [&] {
    require(device, "device");
    require(info, "info");
    return vellum::ExternalImage::make(device->device, *info, external_type(type));
  });
}

void vellum_external_image_destroy(vellum_external_image* image) { delete image; }

VkImage vellum_external_image_handle(const vellum_external_image* image) {
  return image ? image->image.handle() : VK_NULL_HANDLE;
}

VkFormat vellum_external_image_format(const vellum_external_image* image) {
  return image ? image->image.format() : VK_FORMAT_UNDEFINED;
}

uint64_t vellum_external_image_external_format(const vellum_external_image* image) {
  return image ? image->image.external_format() : 0;
}

vellum_status vellum_external_image_export(const vellum_external_image* image, vellum_external_memory* memory,
                                           vellum_error* error) {
  return guarded(error, [&] {
    require(image, "image");
    require_sized(memory, "memory");
    write_memory(memory, image->image.export_memory());
  });
}

void vellum_external_semaphore_handle_init_sized(vellum_external_semaphore_handle* handle, size_t size) {
  write_defaults(handle, size, semaphore_handle_defaults());
}

void(vellum_external_semaphore_handle_init)(vellum_external_semaphore_handle* handle) {
  constexpr size_t end =
      offsetof(vellum_external_semaphore_handle, is_timeline) + sizeof(handle->is_timeline);
  write_defaults(handle, vellum::c_api::size_that_ends_at<vellum_external_semaphore_handle>(end),
                 semaphore_handle_defaults());
}

vellum_status vellum_external_semaphore_import(const vellum_device* device,
                                               const vellum_external_semaphore_handle* handle,
                                               vellum_external_semaphore** semaphore, vellum_error* error) {
  return make_object(semaphore, error, [&] {
    require(device, "device");
    require(handle, "handle");
    const auto c_handle = given_or_default(handle, semaphore_handle_defaults());
    return vellum::ExternalSemaphore::import(device->device, {external_type(c_handle.type), c_handle.fd,
                                                              c_handle.handle, c_handle.is_timeline != 0});
  });
}

vellum_status vellum_external_semaphore_make(const vellum_device* device, vellum_external_type type,
                                             int32_t is_timeline, vellum_external_semaphore** semaphore,
                                             vellum_error* error) {
  return make_object(semaphore, error, [&] {
    require(device, "device");
    return vellum::ExternalSemaphore::make(device->device, external_type(type), is_timeline != 0);
  });
}

void vellum_external_semaphore_destroy(vellum_external_semaphore* semaphore) { delete semaphore; }

VkSemaphore vellum_external_semaphore_vk(const vellum_external_semaphore* semaphore) {
  return semaphore ? semaphore->semaphore.handle() : VK_NULL_HANDLE;
}

vellum_status vellum_external_semaphore_export(const vellum_external_semaphore* semaphore,
                                               vellum_external_semaphore_handle* handle,
                                               vellum_error* error) {
  return guarded(error, [&] {
    require(semaphore, "semaphore");
    require_sized(handle, "handle");
    const vellum::ExternalSemaphoreHandle exported = semaphore->semaphore.export_handle();
    write_result(handle,
                 {0, static_cast<vellum_external_type>(exported.type), exported.fd, exported.handle,
                  exported.is_timeline},
                 "handle");
  });
}

vellum_status vellum_hardware_frames_create(vellum_session* session, const char* input, size_t most,
                                            vellum_hardware_frames** frames, vellum_error* error) {
  return make_object(frames, error, [&] {
    require(session, "session");
    require(input, "input");
    return vellum::HardwareFrames(session->session, input, most ? most : 8);
  });
}

void vellum_hardware_frames_destroy(vellum_hardware_frames* frames) { delete frames; }

vellum_status vellum_hardware_frames_run(vellum_hardware_frames* frames, void* buffer, uint32_t width,
                                         uint32_t height, vellum_error* error) {
  return guarded(error, [&] {
    require(frames, "frames");
    frames->frames.run(buffer, width, height);
  });
}

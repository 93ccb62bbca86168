// Which types of handles a device imports and exports, and what the application enabled for them.
#pragma once

#include <string>
#include <vector>

#include "vellum/external.hpp"
#include "vulkan/vulkan_hpp.hpp"

namespace vellum::gpu {

class Context;

enum class ExternalUse : uint8_t { import_handle, export_handle };

vk::ExternalMemoryHandleTypeFlagBits memory_type_bit(ExternalHandleType type);
vk::ExternalSemaphoreHandleTypeFlagBits semaphore_type_bit(ExternalHandleType type);

// "llvmpipe imports no memory as dma_buf"
[[noreturn]] void refuse_external(const Context& context, ExternalUse use, const char* what,
                                  ExternalHandleType type, const std::string& why);

// Throw Error(unsupported), naming the extension, the type or the format, if the device cannot do it. Return
// whether the memory must be for the one buffer or image alone.
bool require_buffer(const Context& context, ExternalUse use, ExternalHandleType type,
                    VkBufferUsageFlags usage);
bool require_image(const Context& context, ExternalUse use, ExternalHandleType type,
                   const VkImageCreateInfo& info);
void require_semaphore(const Context& context, ExternalUse use, ExternalHandleType type, bool is_timeline);

// Throws Error(unsupported), naming the extension.
void require_hardware_buffers(const Context& context);

std::vector<ExternalSupport> list_external_support(const Context& context);

}  // namespace vellum::gpu

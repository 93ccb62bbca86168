// Queries which types of handles a device can import and export with the enabled extensions.
#pragma once

#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "vellum/external.hpp"

namespace vellum::gpu {

class Context;

enum class ExternalUse : uint8_t { import_handle, export_handle };

// Throws Error(unsupported): "llvmpipe imports no memory as dma_buf".
[[noreturn]] void refuse_external(const Context& context, ExternalUse use, const char* what,
                                  ExternalHandleType type, const std::string& why);

// Throw Error(unsupported), which names the extension, the type or the format, if the device does not support
// it. Return whether the memory must be a dedicated allocation.
bool require_buffer(const Context& context, ExternalUse use, ExternalHandleType type,
                    VkBufferUsageFlags usage);
bool require_image(const Context& context, ExternalUse use, ExternalHandleType type,
                   const VkImageCreateInfo& info);
void require_semaphore(const Context& context, ExternalUse use, ExternalHandleType type, bool is_timeline);

// Throws Error(unsupported), which names the extension, if the device cannot import hardware buffers.
void require_hardware_buffers(const Context& context);

std::vector<ExternalSupport> list_external_support(const Context& context);

}  // namespace vellum::gpu

#include "vulkan/external/win32.hpp"

#include "vulkan/context_impl.hpp"

#ifdef _WIN32
#include "platform/windows.hpp"
// After windows.h.
#include <vulkan/vulkan_win32.h>
#endif

namespace vellum::gpu {

#ifdef _WIN32

namespace {

template <typename Function>
Function win32_function(const Context& context, const char* name) {
  return reinterpret_cast<Function>(context.impl().device.getProcAddr(name));
}

void check_win32(VkResult result, const char* function) {
  if (result != VK_SUCCESS) throw vk::SystemError(vk::make_error_code(vk::Result(result)), function);
}

}  // namespace

ImportedMemory chain_win32_memory(void* handle, const std::function<ImportedMemory(const void*)>& import) {
  const VkImportMemoryWin32HandleInfoKHR info{VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR, nullptr,
                                              VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT, handle,
                                              nullptr};
  return import(&info);
}

void* export_win32_memory(const Context& context, VkDeviceMemory memory) {
  const VkMemoryGetWin32HandleInfoKHR info{VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR, nullptr,
                                           memory, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT};
  HANDLE handle = nullptr;
  check_win32(win32_function<PFN_vkGetMemoryWin32HandleKHR>(context, "vkGetMemoryWin32HandleKHR")(
                  *context.impl().device, &info, &handle),
              "vkGetMemoryWin32HandleKHR");
  return handle;
}

void* export_win32_semaphore(const Context& context, VkSemaphore semaphore) {
  const VkSemaphoreGetWin32HandleInfoKHR info{VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR, nullptr,
                                              semaphore, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT};
  HANDLE handle = nullptr;
  check_win32(win32_function<PFN_vkGetSemaphoreWin32HandleKHR>(context, "vkGetSemaphoreWin32HandleKHR")(
                  *context.impl().device, &info, &handle),
              "vkGetSemaphoreWin32HandleKHR");
  return handle;
}

void import_win32_semaphore(const Context& context, VkSemaphore semaphore, void* handle) {
  const VkImportSemaphoreWin32HandleInfoKHR info{
      VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR, nullptr, semaphore, 0,
      VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT,       handle,  nullptr};
  check_win32(win32_function<PFN_vkImportSemaphoreWin32HandleKHR>(context, "vkImportSemaphoreWin32HandleKHR")(
                  *context.impl().device, &info),
              "vkImportSemaphoreWin32HandleKHR");
}

#else

namespace {

[[noreturn]] void refuse_win32() {
  throw Error(ErrorCode::unsupported, "only Windows shares memory or semaphores as opaque_win32");
}

}  // namespace

ImportedMemory chain_win32_memory(void*, const std::function<ImportedMemory(const void*)>&) {
  refuse_win32();
}
void* export_win32_memory(const Context&, VkDeviceMemory) { refuse_win32(); }
void* export_win32_semaphore(const Context&, VkSemaphore) { refuse_win32(); }
void import_win32_semaphore(const Context&, VkSemaphore, void*) { refuse_win32(); }

#endif

}  // namespace vellum::gpu

#include "worst_device/worst_device.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "platform/dynamic_library.hpp"
#include "vulkan/loader.hpp"
#include "worst_device/pessimise.hpp"

namespace vellum::test {
namespace {

// Vulkan's functions have no user pointer. All devices of a test's process have the same functions, because
// they belong to one driver.
struct State {
  platform::DynamicLibrary loader;
  Allowances allowances;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  PFN_vkCreateShaderModule create_shader_module = nullptr;
  PFN_vkAllocateMemory allocate_memory = nullptr;
  PFN_vkMapMemory map_memory = nullptr;
  PFN_vkUnmapMemory unmap_memory = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties memory_properties = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties2 memory_properties2 = nullptr;
  VkPhysicalDeviceMemoryProperties memory = {};
};

State& state() {
  static State all;
  return all;
}

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkShaderModule* module) {
  const std::vector<uint32_t> words =
      pessimise({info->pCode, info->codeSize / sizeof(uint32_t)}, state().allowances);
  VkShaderModuleCreateInfo rewritten = *info;
  rewritten.pCode = words.data();
  rewritten.codeSize = words.size() * sizeof(uint32_t);
  return state().create_shader_module(device, &rewritten, callbacks, module);
}

VKAPI_ATTR void VKAPI_CALL get_memory_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceMemoryProperties* properties) {
  state().memory_properties(device, properties);
  state().memory = *properties;
}

VKAPI_ATTR void VKAPI_CALL get_memory_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceMemoryProperties2* properties) {
  state().memory_properties2(device, properties);
  state().memory = properties->memoryProperties;
}

bool can_be_mapped(uint32_t type) {
  return (state().memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
}

// Fills what can be mapped, which of a driver for CPUs is all. Memory that is imported has its own contents.
VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkDeviceMemory* memory) {
  const VkResult result = state().allocate_memory(device, info, callbacks, memory);
  void* bytes = nullptr;
  if (result != VK_SUCCESS || info->pNext || !can_be_mapped(info->memoryTypeIndex)) return result;
  if (state().map_memory(device, *memory, 0, VK_WHOLE_SIZE, 0, &bytes) != VK_SUCCESS) return result;
  std::memset(bytes, 0xff, info->allocationSize);
  state().unmap_memory(device, *memory);
  return result;
}

// Keeps the driver's function in `kept` and returns the one that calls it.
template <typename Function>
PFN_vkVoidFunction wrapped(Function& kept, Function wrapper, VkDevice device, const char* name) {
  kept = reinterpret_cast<Function>(state().device_function(device, name));
  return reinterpret_cast<PFN_vkVoidFunction>(wrapper);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  State& all = state();
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  if (wanted == "vkCreateShaderModule")
    return wrapped(all.create_shader_module, create_shader_module, device, name);
  if (wanted == "vkAllocateMemory" && all.allowances.uninitialised_memory) {
    all.map_memory = reinterpret_cast<PFN_vkMapMemory>(all.device_function(device, "vkMapMemory"));
    all.unmap_memory = reinterpret_cast<PFN_vkUnmapMemory>(all.device_function(device, "vkUnmapMemory"));
    return wrapped(all.allocate_memory, allocate_memory, device, name);
  }
  return all.device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction real = state().instance_function(instance, name);
  const std::string_view wanted(name);
  if (wanted == "vkGetPhysicalDeviceMemoryProperties") {
    state().memory_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(get_memory_properties);
  }
  if (wanted == "vkGetPhysicalDeviceMemoryProperties2") {
    state().memory_properties2 = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties2>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(get_memory_properties2);
  }
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_instance_function);
  if (wanted != "vkGetDeviceProcAddr") return real;
  state().device_function = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
}

}  // namespace

PFN_vkGetInstanceProcAddr worst_device_functions() {
  const char* const allowances = std::getenv("VELLUM_TEST_WORST_DEVICE");
  if (!allowances || !*allowances) return nullptr;
  state().allowances = parse_allowances(allowances);
  if (!state().instance_function) {
    state().loader = open_vulkan_loader();
    state().instance_function =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(state().loader.symbol("vkGetInstanceProcAddr"));
  }
  return get_instance_function;
}

}  // namespace vellum::test

#include "vulkan/interposer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/dynamic_library.hpp"

namespace vellum::test {
namespace {

struct State {
  std::mutex mutex;
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  std::map<VkDeviceMemory, VkDeviceSize> allocations;
  uint64_t bytes = 0, peak_bytes = 0;
  uint32_t allocations_left = UINT32_MAX;
  bool devices_hidden = false, version_hidden = false, coherent_hidden = false, memory_split = false;
  bool drivers_hidden = false, portability_device = false, portability_enumerated = false;
  uint32_t memory_types = 0;  // real ones
  bool transfer_queue = false;
  uint32_t queue_families = UINT32_MAX;  // real ones
  uint32_t submits = 0, waiting_submits = 0, submits_left = UINT32_MAX;
  PFN_vkQueueSubmit queue_submit = nullptr;
  std::atomic<uint32_t> objects_made = 0, instances_made = 0, devices_made = 0, maps = 0, waits = 0;
  PFN_vkMapMemory map_memory = nullptr;
  PFN_vkQueueWaitIdle queue_wait_idle = nullptr;
  PFN_vkDeviceWaitIdle device_wait_idle = nullptr;
  PFN_vkWaitForFences wait_for_fences = nullptr;
  std::atomic<bool> device_lost = false;
  std::array<PFN_vkVoidFunction, 14> makers{};
  std::vector<VkMappedMemoryRange> ranges;
  std::map<VkCommandBuffer, uint32_t> dispatches;  // recorded
  std::vector<uint32_t> submitted_dispatches;
  std::vector<std::string> labels, object_names;
  std::atomic<uint32_t> pipelines_made = 0, miscompiled = 0;
  std::string miscompiled_name;
  PFN_vkCreateShaderModule create_shader_module = nullptr;
  bool dispatches_skipped = false, offers_global_priority = false, extensions_hidden = false;
  VkQueueGlobalPriorityKHR global_priority{};
  PFN_vkCmdDispatch dispatch = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label = nullptr;
  PFN_vkSetDebugUtilsObjectNameEXT set_object_name = nullptr;
};

State& state() {
  static State the_state;
  return the_state;
}

template <typename Function>
Function real_device_function(VkDevice device, const char* name) {
  return reinterpret_cast<Function>(state().device_function(device, name));
}

template <typename Function>
Function real_instance_function(const char* name) {
  return reinterpret_cast<Function>(state().instance_function(state().instance, name));
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  ++state().objects_made;
  const std::lock_guard lock(state().mutex);
  if (state().allocations_left == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  --state().allocations_left;
  VkMemoryAllocateInfo real = *info;
  if (real.memoryTypeIndex == state().memory_types) real.memoryTypeIndex = 0;
  const VkResult result = real_device_function<PFN_vkAllocateMemory>(device, "vkAllocateMemory")(
      device, &real, callbacks, memory);
  if (result == VK_SUCCESS) {
    state().allocations[*memory] = info->allocationSize;
    state().bytes += info->allocationSize;
    state().peak_bytes = std::max(state().peak_bytes, state().bytes);
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* callbacks) {
  const std::lock_guard lock(state().mutex);
  if (const auto found = state().allocations.find(memory); found != state().allocations.end()) {
    state().bytes -= found->second;
    state().allocations.erase(found);
  }
  real_device_function<PFN_vkFreeMemory>(device, "vkFreeMemory")(device, memory, callbacks);
}

void note_ranges(uint32_t count, const VkMappedMemoryRange* ranges) {
  const std::lock_guard lock(state().mutex);
  state().ranges.insert(state().ranges.end(), ranges, ranges + count);
}

VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice device, uint32_t count, const VkMappedMemoryRange* ranges) {
  note_ranges(count, ranges);
  return real_device_function<PFN_vkFlushMappedMemoryRanges>(device, "vkFlushMappedMemoryRanges")(
      device, count, ranges);
}

VKAPI_ATTR VkResult VKAPI_CALL invalidate(VkDevice device, uint32_t count,
                                          const VkMappedMemoryRange* ranges) {
  note_ranges(count, ranges);
  return real_device_function<PFN_vkInvalidateMappedMemoryRanges>(device, "vkInvalidateMappedMemoryRanges")(
      device, count, ranges);
}

VKAPI_ATTR VkResult VKAPI_CALL enumerate_devices(VkInstance instance, uint32_t* count,
                                                 VkPhysicalDevice* devices) {
  if (state().devices_hidden || (state().portability_device && !state().portability_enumerated)) {
    *count = 0;
    return VK_SUCCESS;
  }
  return real_instance_function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance, count,
                                                                                              devices);
}

VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice device,
                                             VkPhysicalDeviceMemoryProperties* properties) {
  real_instance_function<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(
      device, properties);
  state().memory_types = properties->memoryTypeCount;
  if (state().memory_split) {
    for (uint32_t i = 0; i < properties->memoryTypeCount; ++i)
      properties->memoryTypes[i].propertyFlags &= ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    properties->memoryTypes[properties->memoryTypeCount++] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                              properties->memoryTypes[0].heapIndex};
  }
  if (state().coherent_hidden)
    for (uint32_t i = 0; i < properties->memoryTypeCount; ++i)
      properties->memoryTypes[i].propertyFlags &=
          ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
}

// The invented type is the first one in disguise.
void offer_invented_type(VkMemoryRequirements& requirements) {
  if (state().memory_split)
    requirements.memoryTypeBits |= (requirements.memoryTypeBits & 1) << state().memory_types;
}

VKAPI_ATTR void VKAPI_CALL buffer_requirements(VkDevice device, VkBuffer buffer,
                                               VkMemoryRequirements* requirements) {
  real_device_function<PFN_vkGetBufferMemoryRequirements>(device, "vkGetBufferMemoryRequirements")(
      device, buffer, requirements);
  offer_invented_type(*requirements);
}

// The added queue family, after the real ones, stands for the first one.
uint32_t real_family(uint32_t family) { return family == state().queue_families ? 0 : family; }

VKAPI_ATTR void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t* count,
                                          VkQueueFamilyProperties* families) {
  const auto real = real_instance_function<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(
      "vkGetPhysicalDeviceQueueFamilyProperties");
  real(device, &state().queue_families, nullptr);
  const uint32_t all = state().queue_families + 1;
  if (families != nullptr) {
    real(device, count, families);
    families[all - 1] = {VK_QUEUE_TRANSFER_BIT, 1, 0, {1, 1, 1}};
  }
  *count = all;
}

constexpr std::string_view kPortabilitySubset = "VK_KHR_portability_subset";

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  ++state().instances_made;
  if (state().drivers_hidden) return VK_ERROR_INCOMPATIBLE_DRIVER;
  const auto* const* extensions = info->ppEnabledExtensionNames;
  state().portability_enumerated =
      (info->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR) != 0 &&
      std::any_of(extensions, extensions + info->enabledExtensionCount, [](std::string_view extension) {
        return extension == VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
      });
  const auto real =
      reinterpret_cast<PFN_vkCreateInstance>(state().instance_function(VK_NULL_HANDLE, "vkCreateInstance"));
  return real(info, callbacks, instance);
}

// Extensions that are offered in place of the driver.
std::vector<std::string_view> invented_extensions() {
  std::vector<std::string_view> names;
  if (state().portability_device) names.push_back(kPortabilitySubset);
  if (state().offers_global_priority) names.push_back(VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME);
  return names;
}

// The real extensions and the invented ones.
VKAPI_ATTR VkResult VKAPI_CALL device_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                                 VkExtensionProperties* extensions) {
  const auto real = real_instance_function<PFN_vkEnumerateDeviceExtensionProperties>(
      "vkEnumerateDeviceExtensionProperties");
  if (state().extensions_hidden) {
    *count = 0;
    return VK_SUCCESS;
  }
  uint32_t real_count = 0;
  real(device, layer, &real_count, nullptr);
  if (extensions != nullptr) {
    real(device, layer, &real_count, extensions);
    uint32_t next = real_count;
    for (const std::string_view name : invented_extensions()) {
      extensions[next] = {};
      name.copy(extensions[next++].extensionName, name.size());
    }
  }
  *count = real_count + static_cast<uint32_t>(invented_extensions().size());
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
  ++state().devices_made;
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (uint32_t i = 0; i < info->queueCreateInfoCount; ++i)
    if (info->pQueueCreateInfos[i].queueFamilyIndex != state().queue_families)
      queues.push_back(info->pQueueCreateInfos[i]);
  for (VkDeviceQueueCreateInfo& queue : queues) {
    if (!queue.pNext) continue;
    const auto* chained = static_cast<const VkDeviceQueueGlobalPriorityCreateInfoKHR*>(queue.pNext);
    state().global_priority = chained->globalPriority;
    if (state().offers_global_priority) queue.pNext = nullptr;
  }
  if (state().global_priority == VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR) return VK_ERROR_NOT_PERMITTED_KHR;
  VkDeviceCreateInfo real = *info;
  std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
  const auto subset = std::find(extensions.begin(), extensions.end(), kPortabilitySubset);
  if (state().portability_device && subset == extensions.end()) return VK_ERROR_INITIALIZATION_FAILED;
  std::erase_if(extensions, [invented = invented_extensions()](std::string_view name) {
    return std::ranges::find(invented, name) != invented.end();
  });
  real.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  real.ppEnabledExtensionNames = extensions.data();
  real.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  real.pQueueCreateInfos = queues.data();
  return real_instance_function<PFN_vkCreateDevice>("vkCreateDevice")(physical, &real, callbacks, device);
}

VKAPI_ATTR void VKAPI_CALL device_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue* queue) {
  real_device_function<PFN_vkGetDeviceQueue>(device, "vkGetDeviceQueue")(device, real_family(family), index,
                                                                         queue);
}

VKAPI_ATTR VkResult VKAPI_CALL create_command_pool(VkDevice device, const VkCommandPoolCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkCommandPool* pool) {
  VkCommandPoolCreateInfo real = *info;
  real.queueFamilyIndex = real_family(real.queueFamilyIndex);
  return real_device_function<PFN_vkCreateCommandPool>(device, "vkCreateCommandPool")(device, &real,
                                                                                      callbacks, pool);
}

// Of a buffer or image: shared by the real family and its disguise is not shared.
template <typename Info>
Info unshared(Info info) {
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  info.queueFamilyIndexCount = 0;
  info.pQueueFamilyIndices = nullptr;
  return info;
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
  const VkBufferCreateInfo real = unshared(*info);
  return real_device_function<PFN_vkCreateBuffer>(device, "vkCreateBuffer")(device, &real, callbacks, buffer);
}

VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkImage* image) {
  const VkImageCreateInfo real = unshared(*info);
  return real_device_function<PFN_vkCreateImage>(device, "vkCreateImage")(device, &real, callbacks, image);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                            VkFence fence) {
  if (state().submits_left == 0) return VK_ERROR_OUT_OF_HOST_MEMORY;
  --state().submits_left;
  ++state().submits;
  for (uint32_t i = 0; i < count; ++i)
    if (submits[i].waitSemaphoreCount > 0) ++state().waiting_submits;
  {
    const std::lock_guard lock(state().mutex);
    uint32_t dispatches = 0;
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t c = 0; c < submits[i].commandBufferCount; ++c)
        dispatches += state().dispatches[submits[i].pCommandBuffers[c]];
    state().submitted_dispatches.push_back(dispatches);
  }
  return state().queue_submit(queue, count, submits, fence);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  {
    const std::lock_guard lock(state().mutex);
    ++state().dispatches[commands];
  }
  if (!state().dispatches_skipped) state().dispatch(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands, const VkDebugUtilsLabelEXT* label) {
  {
    const std::lock_guard lock(state().mutex);
    state().labels.emplace_back(label->pLabelName);
  }
  state().begin_label(commands, label);
}

VKAPI_ATTR VkResult VKAPI_CALL set_object_name(VkDevice device, const VkDebugUtilsObjectNameInfoEXT* info) {
  {
    const std::lock_guard lock(state().mutex);
    state().object_names.emplace_back(info->pObjectName);
  }
  return state().set_object_name(device, info);
}

// Discards what was recorded before.
void note_begin(VkCommandBuffer commands) {
  const std::lock_guard lock(state().mutex);
  state().dispatches[commands] = 0;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count, const VkFence* fences,
                                               VkBool32 all, uint64_t timeout) {
  ++state().waits;
  if (state().device_lost) return VK_ERROR_DEVICE_LOST;
  return state().wait_for_fences(device, count, fences, all, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue) {
  ++state().waits;
  return state().queue_wait_idle(queue);
}

VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device) {
  ++state().waits;
  return state().device_wait_idle(device);
}

VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                          VkDeviceSize size, VkMemoryMapFlags flags, void** data) {
  ++state().maps;
  return state().map_memory(device, memory, offset, size, flags, data);
}

// SPIR-V specification, 3.49.
constexpr uint32_t kOpName = 5, kOpTypeVector = 23, kOpFAdd = 129, kOpFSub = 131, kOpFMul = 133;
constexpr size_t kSpirvHeaderWords = 5;

// Calls `visit` with each instruction's number and words, which begin with its length and number.
template <typename Visit>
void for_each_instruction(std::vector<uint32_t>& module, const Visit& visit) {
  for (size_t i = kSpirvHeaderWords; i < module.size() && module[i] >> 16 != 0; i += module[i] >> 16)
    visit(module[i] & 0xffff, std::span(module).subspan(i, module[i] >> 16));
}

// Whether an OpName has the text.
bool names(std::vector<uint32_t>& module, const std::string& text) {
  bool found = false;
  for_each_instruction(module, [&](uint32_t op, std::span<uint32_t> words) {
    if (op != kOpName) return;
    const std::string name(reinterpret_cast<const char*>(&words[2]), 4 * (words.size() - 2));
    found |= name.find(text) != name.npos;
  });
  return found;
}

// Vectors of four are numbers of tensors; places in memory are computed from scalars and must not change.
void break_arithmetic(std::vector<uint32_t>& module) {
  std::set<uint32_t> vectors;
  for_each_instruction(module, [&](uint32_t op, std::span<uint32_t> words) {
    if (op == kOpTypeVector && words[3] == 4) vectors.insert(words[1]);
    if ((op != kOpFMul && op != kOpFAdd) || !vectors.contains(words[1])) return;
    words[0] = (words[0] & 0xffff0000) | (op == kOpFMul ? kOpFAdd : kOpFSub);
  });
}

VKAPI_ATTR VkResult VKAPI_CALL create_shader_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkShaderModule* module) {
  ++state().objects_made;
  std::vector<uint32_t> code(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  if (!state().miscompiled_name.empty() && names(code, state().miscompiled_name)) {
    ++state().miscompiled;
    break_arithmetic(code);
  }
  VkShaderModuleCreateInfo real = *info;
  real.pCode = code.data();
  return state().create_shader_module(device, &real, callbacks, module);
}

// What objects_made() counts besides vkAllocateMemory.
constexpr std::array kMakers{"vkBeginCommandBuffer",       "vkCreateBuffer",         "vkCreateImage",
                             "vkCreateBufferView",         "vkCreateImageView",      "vkCreateFence",
                             "vkCreateSemaphore",          "vkCreateCommandPool",    "vkCreateDescriptorPool",
                             "vkCreateComputePipelines",   "vkCreatePipelineLayout", "vkCreateQueryPool",
                             "vkCreateDescriptorSetLayout"};
static_assert(kMakers.size() <= std::tuple_size_v<decltype(State::makers)>);

template <size_t index, typename Result, typename... Arguments>
VKAPI_ATTR Result VKAPI_CALL counted(Arguments... arguments) {
  ++state().objects_made;
  if constexpr (std::string_view(kMakers[index]) == "vkBeginCommandBuffer")
    note_begin(std::get<0>(std::tuple(arguments...)));
  if constexpr (std::string_view(kMakers[index]) == "vkCreateComputePipelines") ++state().pipelines_made;
  return reinterpret_cast<Result(VKAPI_PTR*)(Arguments...)>(state().makers[index])(arguments...);
}

template <size_t index>
PFN_vkVoidFunction counting_function() {
  constexpr std::string_view name = kMakers[index];
  if constexpr (name == "vkBeginCommandBuffer")
    return reinterpret_cast<PFN_vkVoidFunction>(
        counted<index, VkResult, VkCommandBuffer, const VkCommandBufferBeginInfo*>);
  else if constexpr (name == "vkCreateComputePipelines")
    return reinterpret_cast<PFN_vkVoidFunction>(
        counted<index, VkResult, VkDevice, VkPipelineCache, uint32_t, const VkComputePipelineCreateInfo*,
                const VkAllocationCallbacks*, VkPipeline*>);
  else  // all others have this form; handles are 64 bits, or pointers to them
    return reinterpret_cast<PFN_vkVoidFunction>(
        counted<index, VkResult, VkDevice, const void*, const VkAllocationCallbacks*, void*>);
}

template <size_t... index>
PFN_vkVoidFunction counting_function(std::string_view wanted, VkDevice device,
                                     std::index_sequence<index...>) {
  PFN_vkVoidFunction found = nullptr;
  const auto try_one = [&](size_t position, PFN_vkVoidFunction function) {
    if (wanted != kMakers[position]) return;
    state().makers[position] = state().device_function(device, kMakers[position]);
    found = function;
  };
  (try_one(index, counting_function<index>()), ...);
  return found;
}

PFN_vkVoidFunction transfer_queue_function(std::string_view wanted) {
  if (wanted == "vkGetDeviceQueue") return reinterpret_cast<PFN_vkVoidFunction>(device_queue);
  if (wanted == "vkCreateCommandPool") return reinterpret_cast<PFN_vkVoidFunction>(create_command_pool);
  if (wanted == "vkCreateBuffer") return reinterpret_cast<PFN_vkVoidFunction>(create_buffer);
  if (wanted == "vkCreateImage") return reinterpret_cast<PFN_vkVoidFunction>(create_image);
  return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetDeviceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  if (wanted == "vkAllocateMemory") return reinterpret_cast<PFN_vkVoidFunction>(allocate);
  if (wanted == "vkFreeMemory") return reinterpret_cast<PFN_vkVoidFunction>(free_memory);
  if (wanted == "vkGetBufferMemoryRequirements")
    return reinterpret_cast<PFN_vkVoidFunction>(buffer_requirements);
  if (wanted == "vkFlushMappedMemoryRanges") return reinterpret_cast<PFN_vkVoidFunction>(flush);
  if (wanted == "vkInvalidateMappedMemoryRanges") return reinterpret_cast<PFN_vkVoidFunction>(invalidate);
  // Keeps the driver's function and returns the one that calls it.
  const auto wrapped = [&](auto& real, auto* wrapper) {
    real = real_device_function<std::remove_reference_t<decltype(real)>>(device, name);
    return reinterpret_cast<PFN_vkVoidFunction>(wrapper);
  };
  if (wanted == "vkQueueSubmit") return wrapped(state().queue_submit, queue_submit);
  if (wanted == "vkWaitForFences") return wrapped(state().wait_for_fences, wait_for_fences);
  if (wanted == "vkQueueWaitIdle") return wrapped(state().queue_wait_idle, queue_wait_idle);
  if (wanted == "vkDeviceWaitIdle") return wrapped(state().device_wait_idle, device_wait_idle);
  if (wanted == "vkCmdDispatch") return wrapped(state().dispatch, dispatch);
  if (wanted == "vkCmdBeginDebugUtilsLabelEXT" && state().device_function(device, name))
    return wrapped(state().begin_label, begin_label);
  if (wanted == "vkSetDebugUtilsObjectNameEXT" && state().device_function(device, name))
    return wrapped(state().set_object_name, set_object_name);
  if (wanted == "vkCreateShaderModule") return wrapped(state().create_shader_module, create_shader_module);
  if (wanted == "vkMapMemory") return wrapped(state().map_memory, map_memory);
  if (state().transfer_queue)
    if (const PFN_vkVoidFunction function = transfer_queue_function(wanted)) return function;
  if (const PFN_vkVoidFunction function =
          counting_function(wanted, device, std::make_index_sequence<kMakers.size()>()))
    return function;
  return state().device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (instance) state().instance = instance;
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_instance_function);
  if (wanted == "vkEnumerateInstanceVersion" && state().version_hidden) return nullptr;
  if (wanted == "vkEnumeratePhysicalDevices") return reinterpret_cast<PFN_vkVoidFunction>(enumerate_devices);
  if (wanted == "vkGetPhysicalDeviceMemoryProperties")
    return reinterpret_cast<PFN_vkVoidFunction>(memory_properties);
  if (state().transfer_queue && wanted == "vkGetPhysicalDeviceQueueFamilyProperties")
    return reinterpret_cast<PFN_vkVoidFunction>(queue_families);
  if (wanted == "vkCreateInstance") return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
  if (wanted == "vkCreateDevice") return reinterpret_cast<PFN_vkVoidFunction>(create_device);
  if ((state().extensions_hidden || !invented_extensions().empty()) &&
      wanted == "vkEnumerateDeviceExtensionProperties")
    return reinterpret_cast<PFN_vkVoidFunction>(device_extensions);
  if (wanted == "vkGetDeviceProcAddr") {
    state().device_function =
        reinterpret_cast<PFN_vkGetDeviceProcAddr>(state().instance_function(instance, "vkGetDeviceProcAddr"));
    return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  }
  return state().instance_function(instance, name);
}

// All but the mutex.
void clear() {
  State& s = state();
  s.loader = {};
  s.instance_function = nullptr, s.device_function = nullptr, s.queue_submit = nullptr;
  s.instance = VK_NULL_HANDLE;
  s.allocations.clear(), s.ranges.clear();
  s.allocations_left = s.submits_left = UINT32_MAX;
  s.devices_hidden = s.version_hidden = s.coherent_hidden = s.memory_split = s.transfer_queue = false;
  s.drivers_hidden = s.portability_device = s.portability_enumerated = false;
  s.queue_families = UINT32_MAX;
  s.bytes = s.peak_bytes = 0;
  s.submits = s.waiting_submits = 0;
  s.objects_made = s.instances_made = s.devices_made = s.maps = s.waits = 0;
  s.wait_for_fences = nullptr;
  s.device_lost = false;
  s.makers = {};
  s.dispatches.clear(), s.submitted_dispatches.clear();
  s.labels.clear(), s.object_names.clear();
  s.pipelines_made = s.miscompiled = 0;
  s.miscompiled_name.clear();
  s.dispatches_skipped = false;
  s.offers_global_priority = s.extensions_hidden = false;
  s.global_priority = {};
}

}  // namespace

Interposer::Interposer() {
  constexpr std::array names{"libvulkan.so.1", "libvulkan.so", "vulkan-1.dll"};
  state().loader = platform::DynamicLibrary::open(names);
  state().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(state().loader.symbol("vkGetInstanceProcAddr"));
}

Interposer::~Interposer() { clear(); }

PFN_vkGetInstanceProcAddr Interposer::get_instance_proc_addr() const { return get_instance_function; }

uint32_t Interposer::instances_made() const { return state().instances_made; }
uint32_t Interposer::devices_made() const { return state().devices_made; }
uint32_t Interposer::maps() const { return state().maps; }
uint32_t Interposer::waits() const { return state().waits; }

uint64_t Interposer::allocated_bytes() const {
  const std::lock_guard lock(state().mutex);
  return state().bytes;
}

uint64_t Interposer::peak_bytes() const {
  const std::lock_guard lock(state().mutex);
  return state().peak_bytes;
}

void Interposer::reset_peak() {
  const std::lock_guard lock(state().mutex);
  state().peak_bytes = state().bytes;
}

uint32_t Interposer::allocations() const {
  const std::lock_guard lock(state().mutex);
  return static_cast<uint32_t>(state().allocations.size());
}

std::vector<uint32_t> Interposer::submitted_dispatches() const {
  const std::lock_guard lock(state().mutex);
  return state().submitted_dispatches;
}

std::vector<std::string> Interposer::labels() const {
  const std::lock_guard lock(state().mutex);
  return state().labels;
}

std::vector<std::string> Interposer::object_names() const {
  const std::lock_guard lock(state().mutex);
  return state().object_names;
}

uint32_t Interposer::pipelines_made() const { return state().pipelines_made; }

uint32_t Interposer::objects_made() const { return state().objects_made; }

void Interposer::fail_allocations_after(uint32_t successes) { state().allocations_left = successes; }
void Interposer::fail_submits_after(uint32_t successes) { state().submits_left = successes; }
void Interposer::lose_device() { state().device_lost = true; }
void Interposer::find_device() { state().device_lost = false; }
void Interposer::hide_devices() { state().devices_hidden = true; }
void Interposer::hide_drivers() { state().drivers_hidden = true; }
void Interposer::make_portability_device() { state().portability_device = true; }
void Interposer::offer_global_priority() { state().offers_global_priority = true; }
VkQueueGlobalPriorityKHR Interposer::global_priority() const { return state().global_priority; }
void Interposer::hide_device_extensions() { state().extensions_hidden = true; }
void Interposer::hide_instance_version() { state().version_hidden = true; }
void Interposer::miscompile(std::string name) { state().miscompiled_name = std::move(name); }
uint32_t Interposer::miscompiled() const { return state().miscompiled; }
void Interposer::skip_dispatches() { state().dispatches_skipped = true; }
void Interposer::split_memory() { state().memory_split = true; }
void Interposer::add_transfer_queue() { state().transfer_queue = true; }
uint32_t Interposer::submits() const { return state().submits; }
uint32_t Interposer::waiting_submits() const { return state().waiting_submits; }
void Interposer::hide_coherent_memory() { state().coherent_hidden = true; }
const std::vector<VkMappedMemoryRange>& Interposer::synchronised_ranges() const { return state().ranges; }

}  // namespace vellum::test

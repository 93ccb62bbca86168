#include "worst_device/worst_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/framework/grid.hpp"
#include "platform/dynamic_library.hpp"
#include "vulkan/loader.hpp"
#include "worst_device/bar_heap.hpp"
#include "worst_device/findings.hpp"

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
  PFN_vkCreateComputePipelines create_pipelines = nullptr;
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
  const std::span<const uint32_t> given(info->pCode, info->codeSize / sizeof(uint32_t));
  const std::vector<uint32_t> words = pessimise(given, state().allowances);
  if (state().allowances.has_findings()) note_shader(finding_slot(given), given);
  VkShaderModuleCreateInfo rewritten = *info;
  rewritten.pCode = words.data();
  rewritten.codeSize = words.size() * sizeof(uint32_t);
  return state().create_shader_module(device, &rewritten, callbacks, module);
}

// The driver's own subgroups are of another size than the emulated ones, and not used.
VKAPI_ATTR VkResult VKAPI_CALL create_pipelines_of_any_subgroup(VkDevice device, VkPipelineCache cache,
                                                                uint32_t count,
                                                                const VkComputePipelineCreateInfo* infos,
                                                                const VkAllocationCallbacks* callbacks,
                                                                VkPipeline* pipelines) {
  std::vector<VkComputePipelineCreateInfo> changed(infos, infos + count);
  for (VkComputePipelineCreateInfo& info : changed) {
    info.stage.flags &= ~VkFlags{VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT};
    info.stage.pNext = nullptr;
  }
  return state().create_pipelines(device, cache, count, changed.data(), callbacks, pipelines);
}

VKAPI_ATTR void VKAPI_CALL get_memory_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceMemoryProperties* properties) {
  state().memory_properties(device, properties);
  state().memory = *properties;
  if (state().allowances.bar_heap) add_bar_heap(*properties);
}

VKAPI_ATTR void VKAPI_CALL get_memory_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceMemoryProperties2* properties) {
  state().memory_properties2(device, properties);
  state().memory = properties->memoryProperties;
  if (state().allowances.bar_heap) add_bar_heap(properties->memoryProperties);
}

// Types beyond the driver's are its first one in disguise (bar_heap.hpp).
bool can_be_mapped(uint32_t type) {
  if (type >= state().memory.memoryTypeCount) type = 0;
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

// The driver's function, or the one of the heap that it does not have.
PFN_vkVoidFunction real_function(VkDevice device, const char* name) {
  if (state().allowances.bar_heap)
    if (const PFN_vkVoidFunction function = bar_heap_function(device, name, state().device_function))
      return function;
  return state().device_function(device, name);
}

// Keeps the real function in `kept` and returns the one that calls it.
template <typename Function>
PFN_vkVoidFunction wrapped(Function& kept, Function wrapper, VkDevice device, const char* name) {
  kept = reinterpret_cast<Function>(real_function(device, name));
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
  if (wanted == "vkCreateComputePipelines" && all.allowances.subgroup_size > 0)
    return wrapped(all.create_pipelines, create_pipelines_of_any_subgroup, device, name);
  if (all.allowances.has_findings())
    if (const PFN_vkVoidFunction function = findings_function(device, name, all.device_function, all.memory))
      return function;
  return real_function(device, name);
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

// The emulation takes shared memory, up to a vector of four words for each invocation.
DeviceCaps with_subgroups(DeviceCaps caps, uint32_t size) {
  constexpr uint32_t kEmulation = 16, kLeastShared = 16384;
  caps.subgroup_size = size;
  caps.subgroup_arithmetic = caps.full_subgroups = true;
  // In the last workgroup of kernels that broadcast, some subgroups end while others go on. The emulation has
  // barriers there, at which lavapipe ends the whole workgroup: such kernels need subgroups of its size.
  caps.subgroup_broadcast = size >= kRowWorkgroup;
  caps.cooperative_matrices.clear();
  const uint32_t taken = kEmulation * caps.max_workgroup_invocations;
  if (caps.max_shared_memory_bytes >= kLeastShared + taken) caps.max_shared_memory_bytes -= taken;
  return caps;
}

// Returns how much shared memory kernels may have if each word has a mark of its last access, which takes as
// much. It is at least what Vulkan guarantees.
uint32_t with_marks(uint32_t shared_bytes) {
  constexpr uint32_t kLeastShared = 16384;
  return std::max(shared_bytes / 2, std::min(shared_bytes, kLeastShared));
}

class FindingsFailTests : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override { fail_on_findings(); }
  // After the listeners that destroy devices: these come last first.
  void OnEnvironmentsTearDownEnd(const testing::UnitTest&) override { fail_on_findings(); }
};

}  // namespace

void fail_on_findings() {
  for (const std::string& finding : take_findings()) ADD_FAILURE() << finding;
}

Allowances worst_device_allowances() {
  const char* const allowances = std::getenv("VELLUM_TEST_WORST_DEVICE");
  return parse_allowances(allowances ? allowances : "");
}

PFN_vkGetInstanceProcAddr worst_device_functions() {
  const char* const allowances = std::getenv("VELLUM_TEST_WORST_DEVICE");
  if (!allowances || !*allowances) return nullptr;
  state().allowances = parse_allowances(allowances);
  [[maybe_unused]] static const bool listens = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new FindingsFailTests);
    return true;
  }();
  if (!state().instance_function) {
    state().loader = open_vulkan_loader();
    state().instance_function =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(state().loader.symbol("vkGetInstanceProcAddr"));
  }
  return get_instance_function;
}

void use_worst_device(gpu::ContextOptions& options) {
  options.get_instance_proc_addr = worst_device_functions();
  if (!options.get_instance_proc_addr) return;
  const Allowances allowances = worst_device_allowances();
  options.wait_limit = std::chrono::minutes(10);  // lavapipe compiles many barriers while it is waited for
  options.poison_memory = allowances.recycled_memory;
  options.adjust_caps = [adjust = options.adjust_caps, allowances](const DeviceCaps& real) {
    DeviceCaps caps = adjust ? adjust(real) : real;
    if (allowances.division) caps.exact_division = false;
    if (allowances.shared_races) caps.max_shared_memory_bytes = with_marks(caps.max_shared_memory_bytes);
    return allowances.subgroup_size == 0 ? caps : with_subgroups(caps, allowances.subgroup_size);
  };
}

}  // namespace vellum::test

#include "vulkan/fault_layer.hpp"

#include <array>
#include <atomic>
#include <iterator>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "platform/dynamic_library.hpp"
#include "vulkan/loader.hpp"

namespace vellum::test {
namespace {

// Functions that can fail and make no object that is counted, and what they return then.
#define VELLUM_CALLS(row)                                                                                    \
  row(vkEnumerateInstanceVersion, OUT_OF_HOST_MEMORY) row(vkEnumerateInstanceExtensionProperties,            \
                                                          OUT_OF_HOST_MEMORY)                                \
      row(vkEnumerateInstanceLayerProperties, OUT_OF_HOST_MEMORY) row(                                       \
          vkEnumeratePhysicalDevices, INITIALIZATION_FAILED) row(vkEnumerateDeviceExtensionProperties,       \
                                                                 OUT_OF_HOST_MEMORY)                         \
          row(vkGetPhysicalDeviceImageFormatProperties, OUT_OF_HOST_MEMORY) row(                             \
              vkBindBufferMemory, OUT_OF_DEVICE_MEMORY) row(vkBindImageMemory, OUT_OF_DEVICE_MEMORY)         \
              row(vkMapMemory, MEMORY_MAP_FAILED) row(vkFlushMappedMemoryRanges, OUT_OF_HOST_MEMORY)         \
                  row(vkInvalidateMappedMemoryRanges, OUT_OF_HOST_MEMORY) row(                               \
                      vkAllocateDescriptorSets, OUT_OF_POOL_MEMORY) row(vkAllocateCommandBuffers,            \
                                                                        OUT_OF_HOST_MEMORY)                  \
                      row(vkBeginCommandBuffer, OUT_OF_HOST_MEMORY) row(                                     \
                          vkEndCommandBuffer, OUT_OF_DEVICE_MEMORY) row(vkResetFences, OUT_OF_DEVICE_MEMORY) \
                          row(vkGetFenceStatus, DEVICE_LOST) row(vkWaitForFences, DEVICE_LOST)               \
                              row(vkQueueSubmit, OUT_OF_DEVICE_MEMORY) row(vkQueueSubmit, DEVICE_LOST)       \
                                  row(vkQueueWaitIdle, DEVICE_LOST) row(vkDeviceWaitIdle, DEVICE_LOST)       \
                                      row(vkGetQueryPoolResults, DEVICE_LOST)                                \
                                          row(vkGetPipelineCacheData, OUT_OF_HOST_MEMORY)                    \
                                              row(vkGetMemoryFdKHR, OUT_OF_HOST_MEMORY)                      \
                                                  row(vkGetSemaphoreFdKHR, OUT_OF_HOST_MEMORY)               \
                                                      row(vkImportSemaphoreFdKHR, OUT_OF_HOST_MEMORY)

// Objects: how they are made and destroyed, and what making them returns where it fails.
#define VELLUM_OBJECTS(row)                                                                                  \
  row(vkCreateInstance, vkDestroyInstance, OUT_OF_HOST_MEMORY)                                               \
      row(vkCreateDevice, vkDestroyDevice, INITIALIZATION_FAILED)                                            \
          row(vkAllocateMemory, vkFreeMemory, OUT_OF_DEVICE_MEMORY)                                          \
              row(vkCreateBuffer, vkDestroyBuffer, OUT_OF_DEVICE_MEMORY) row(vkCreateImage, vkDestroyImage,  \
                                                                             OUT_OF_DEVICE_MEMORY)           \
                  row(vkCreateImageView, vkDestroyImageView, OUT_OF_HOST_MEMORY) row(                        \
                      vkCreateFence, vkDestroyFence, OUT_OF_HOST_MEMORY)                                     \
                      row(vkCreateSemaphore, vkDestroySemaphore, OUT_OF_HOST_MEMORY) row(                    \
                          vkCreateCommandPool, vkDestroyCommandPool, OUT_OF_HOST_MEMORY)                     \
                          row(vkCreateDescriptorPool, vkDestroyDescriptorPool, OUT_OF_DEVICE_MEMORY) row(    \
                              vkCreateDescriptorSetLayout, vkDestroyDescriptorSetLayout, OUT_OF_HOST_MEMORY) \
                              row(vkCreatePipelineLayout, vkDestroyPipelineLayout, OUT_OF_HOST_MEMORY)       \
                                  row(vkCreateShaderModule, vkDestroyShaderModule, OUT_OF_HOST_MEMORY) row(  \
                                      vkCreatePipelineCache, vkDestroyPipelineCache, OUT_OF_HOST_MEMORY)     \
                                      row(vkCreateComputePipelines, vkDestroyPipeline, OUT_OF_DEVICE_MEMORY) \
                                          row(vkCreateQueryPool, vkDestroyQueryPool, OUT_OF_DEVICE_MEMORY)

struct Call {
  const char* name;
  VkResult failure;
};

#define VELLUM_ROW(name, failure) Call{#name, VK_ERROR_##failure},
constexpr Call kCalls[] = {VELLUM_CALLS(VELLUM_ROW)};
#undef VELLUM_ROW
#define VELLUM_ROW(make, destroy, failure) Call{#make, VK_ERROR_##failure},
constexpr Call kMakers[] = {VELLUM_OBJECTS(VELLUM_ROW)};
#undef VELLUM_ROW

struct State {
  platform::DynamicLibrary loader;
  PFN_vkGetInstanceProcAddr instance_function = nullptr;
  PFN_vkGetDeviceProcAddr device_function = nullptr;
  std::string_view faulty;  // the function's name; empty: none
  uint32_t faulty_call = 0;
  VkResult result = VK_SUCCESS;
  std::atomic<bool> happened = false;
  std::array<std::atomic<uint32_t>, std::size(kCalls)> calls{};
  std::array<std::atomic<uint32_t>, std::size(kMakers)> makes{};
  std::array<std::atomic<int64_t>, std::size(kMakers)> live{};
};

State& state() {
  static State the_state;
  return the_state;
}

bool fails(std::string_view function, uint32_t call) {
  if (function != state().faulty || call != state().faulty_call) return false;
  state().happened = true;
  return true;
}

// The function of the driver or of the loader for the wrapper with this number.
template <size_t number>
std::atomic<PFN_vkVoidFunction>& real_function() {
  static std::atomic<PFN_vkVoidFunction> function = nullptr;
  return function;
}

constexpr size_t kDestroyers = 1000, kMade = 2000;  // where their numbers begin

template <size_t number, typename Function>
Function real() {
  return reinterpret_cast<Function>(real_function<number>().load());
}

template <size_t index, typename Function>
struct Failing;

template <size_t index, typename... Arguments>
struct Failing<index, VkResult(VKAPI_PTR*)(Arguments...)> {
  using Function = VkResult(VKAPI_PTR*)(Arguments...);
  static VKAPI_ATTR VkResult VKAPI_CALL call(Arguments... arguments) {
    if (fails(kCalls[index].name, ++state().calls[index])) return state().result;
    return real<index, Function>()(arguments...);
  }
};

template <size_t index, typename Function>
struct Making;

template <size_t index, typename... Arguments>
struct Making<index, VkResult(VKAPI_PTR*)(Arguments...)> {
  using Function = VkResult(VKAPI_PTR*)(Arguments...);
  static VKAPI_ATTR VkResult VKAPI_CALL call(Arguments... arguments) {
    if (fails(kMakers[index].name, ++state().makes[index])) return state().result;
    const VkResult result = real<kMade + index, Function>()(arguments...);
    if (result == VK_SUCCESS) ++state().live[index];  // Vellum makes pipelines one by one
    return result;
  }
};

template <size_t index, typename Function>
struct Destroying;

template <size_t index, typename... Arguments>
struct Destroying<index, void(VKAPI_PTR*)(Arguments...)> {
  using Function = void(VKAPI_PTR*)(Arguments...);
  static VKAPI_ATTR void VKAPI_CALL call(Arguments... arguments) {
    // (device, object, callbacks), or (object, callbacks)
    const auto object = std::get<sizeof...(arguments) - 2>(std::tuple(arguments...));
    if (object != VK_NULL_HANDLE) --state().live[index];
    real<kDestroyers + index, Function>()(arguments...);
  }
};

constexpr size_t index_of(const Call* calls, size_t count, std::string_view name) {
  for (size_t i = 0; i < count; ++i)
    if (calls[i].name == name) return i;
  return count;
}

template <size_t number, typename Wrapper>
PFN_vkVoidFunction wrap(PFN_vkVoidFunction driver, Wrapper* wrapper) {
  if (driver == nullptr) return nullptr;
  real_function<number>() = driver;
  return reinterpret_cast<PFN_vkVoidFunction>(wrapper);
}

PFN_vkVoidFunction wrapped(std::string_view wanted, PFN_vkVoidFunction driver) {
#define VELLUM_ROW(name, failure)                                        \
  if (wanted == #name) {                                                 \
    constexpr size_t index = index_of(kCalls, std::size(kCalls), #name); \
    return wrap<index>(driver, Failing<index, PFN_##name>::call);        \
  }
  VELLUM_CALLS(VELLUM_ROW)
#undef VELLUM_ROW
#define VELLUM_ROW(make, destroy, failure)                                                    \
  {                                                                                           \
    constexpr size_t index = index_of(kMakers, std::size(kMakers), #make);                    \
    if (wanted == #make) return wrap<kMade + index>(driver, Making<index, PFN_##make>::call); \
    if (wanted == #destroy)                                                                   \
      return wrap<kDestroyers + index>(driver, Destroying<index, PFN_##destroy>::call);       \
  }
  VELLUM_OBJECTS(VELLUM_ROW)
#undef VELLUM_ROW
  return driver;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  if (std::string_view(name) == "vkGetDeviceProcAddr")
    return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  return wrapped(name, state().device_function(device, name));
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const std::string_view wanted(name);
  if (wanted == "vkGetInstanceProcAddr") return reinterpret_cast<PFN_vkVoidFunction>(get_instance_function);
  const PFN_vkVoidFunction found = state().instance_function(instance, name);
  if (wanted == "vkGetDeviceProcAddr") {
    state().device_function = reinterpret_cast<PFN_vkGetDeviceProcAddr>(found);
    return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  }
  return wrapped(wanted, found);
}

}  // namespace

FaultLayer::FaultLayer() {
  state().loader = open_vulkan_loader();
  state().instance_function =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(state().loader.symbol("vkGetInstanceProcAddr"));
  for (std::atomic<int64_t>& count : state().live) count = 0;
  start();
}

FaultLayer::~FaultLayer() { state().loader = {}; }

PFN_vkGetInstanceProcAddr FaultLayer::get_instance_proc_addr() const { return get_instance_function; }

const std::vector<Fault>& FaultLayer::possible_faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> faults;
    for (const Call& call : kCalls) faults.push_back({call.name, 1, call.failure});
    for (const Call& call : kMakers) faults.push_back({call.name, 1, call.failure});
    return faults;
  }();
  return all;
}

void FaultLayer::start(const std::optional<Fault>& fault) {
  State& s = state();
  s.faulty = {};
  for (std::atomic<uint32_t>& count : s.calls) count = 0;
  for (std::atomic<uint32_t>& count : s.makes) count = 0;
  s.happened = false;
  if (!fault) return;
  s.faulty_call = fault->call;
  s.result = fault->result;
  for (const Fault& possible : possible_faults())
    if (possible.function == fault->function) s.faulty = possible.function;
}

bool FaultLayer::happened() const { return state().happened; }

uint32_t FaultLayer::calls(const std::string& function) const {
  if (const size_t call = index_of(kCalls, std::size(kCalls), function); call < std::size(kCalls))
    return state().calls[call];
  return state().makes[index_of(kMakers, std::size(kMakers), function)];
}

std::map<std::string, int64_t> FaultLayer::live_objects() const {
  std::map<std::string, int64_t> live;
  for (size_t i = 0; i < std::size(kMakers); ++i)
    if (state().live[i] != 0) live[kMakers[i].name] = state().live[i];
  return live;
}

}  // namespace vellum::test

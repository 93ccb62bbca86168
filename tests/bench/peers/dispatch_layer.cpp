// A Vulkan layer that records what an engine dispatches and what the driver's compiler makes of its shaders:
// VK_LAYER_VELLUM_dispatch. It writes to the folder $VELLUM_DISPATCHES:
//
//   events.jsonl   one object a line, in the order of the calls: resources, descriptors, pipelines, commands
//   P.E.txt        executable E of pipeline P as `vellum inspect --code` writes it: statistics, assembly
//   P.spv          the SPIR-V of pipeline P
//
// tests/gpu_compilers/peer_dispatches.py reads them. Handles are numbers in the order of their first use. The
// driver needs VK_KHR_pipeline_executable_properties. One device at a time is recorded.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "support/vulkan_layer.hpp"

namespace vellum::test {
namespace {

PFN_vkGetInstanceProcAddr next_instance_function = nullptr;
PFN_vkGetDeviceProcAddr next_device_function = nullptr;
VkInstance current_instance = nullptr;

struct Record {
  std::recursive_mutex mutex;
  std::string folder = std::getenv("VELLUM_DISPATCHES") ? std::getenv("VELLUM_DISPATCHES") : ".";
  std::ofstream events{folder + "/events.jsonl"};
  std::map<std::pair<std::string, uint64_t>, int> numbers;
  std::map<VkShaderModule, std::vector<uint32_t>> modules;

  // Returns the number of a handle; `created`: another handle may have had the same value before.
  template <typename Handle>
  int number(const char* kind, Handle handle, bool created = false) {
    if (!handle) return 0;
    int& number = numbers[{kind, uint64_t(handle)}];
    if (number == 0 || created) number = ++last;
    return number;
  }
  int last = 0;
};

Record& record() {
  static Record& record = *new Record;  // outlives the threads of the engine
  return record;
}

// Writes {"event": NAME, FIELDS} if it goes out of scope.
class Event {
 public:
  explicit Event(const char* name) : lock_(record().mutex) { text_ << "{\"event\": \"" << name << '"'; }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { record().events << text_.str() << "}" << std::endl; }

  Event& add(const char* name, uint64_t value) {
    text_ << ", \"" << name << "\": " << value;
    return *this;
  }
  template <typename Handle>
  Event& created(const char* kind, Handle handle) {
    return add("handle", record().number(kind, handle, true));
  }
  template <typename Handle>
  Event& handle(const char* kind, Handle handle) {
    return add(kind, record().number(kind, handle));
  }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  std::ostringstream text_;
};

template <typename Function>
Function next(VkDevice device, const char* name) {
  return reinterpret_cast<Function>(next_device_function(device, name));
}

// Returns the next layer's function for a command buffer. One device at a time is recorded.
VkDevice current_device = nullptr;
template <typename Function>
Function next(const char* name) {
  return next<Function>(current_device, name);
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  const VkResult result = create_next_instance(info, callbacks, instance, next_instance_function);
  if (result == VK_SUCCESS) current_instance = *instance;
  return result;
}

// Adds VK_KHR_pipeline_executable_properties.
VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
      const_cast<void*>(info->pNext), VK_TRUE};
  std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                      info->ppEnabledExtensionNames + info->enabledExtensionCount);
  extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  VkDeviceCreateInfo with = *info;
  with.pNext = &feature;
  with.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  with.ppEnabledExtensionNames = extensions.data();
  const VkResult result =
      create_next_device(current_instance, physical, &with, callbacks, device, next_device_function);
  if (result == VK_SUCCESS) current_device = *device;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
  const VkResult result = next<PFN_vkCreateBuffer>(device, "vkCreateBuffer")(device, info, callbacks, buffer);
  if (result == VK_SUCCESS) Event("buffer").created("buffer", *buffer).add("bytes", info->size);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkImage* image) {
  const VkResult result = next<PFN_vkCreateImage>(device, "vkCreateImage")(device, info, callbacks, image);
  if (result == VK_SUCCESS)
    Event("image")
        .created("image", *image)
        .add("format", info->format)
        .add("width", info->extent.width)
        .add("height", info->extent.height)
        .add("depth", info->extent.depth)
        .add("layers", info->arrayLayers);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_view(VkDevice device, const VkImageViewCreateInfo* info,
                                           const VkAllocationCallbacks* callbacks, VkImageView* view) {
  const VkResult result =
      next<PFN_vkCreateImageView>(device, "vkCreateImageView")(device, info, callbacks, view);
  if (result == VK_SUCCESS) Event("view").created("view", *view).handle("image", info->image);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkShaderModule* module) {
  const VkResult result =
      next<PFN_vkCreateShaderModule>(device, "vkCreateShaderModule")(device, info, callbacks, module);
  const std::lock_guard lock(record().mutex);
  if (result == VK_SUCCESS) record().modules[*module] = {info->pCode, info->pCode + info->codeSize / 4};
  return result;
}

bool is_image(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE || type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ||
         type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
}

bool is_buffer(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER || type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
         type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
         type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice device, uint32_t count, const VkWriteDescriptorSet* writes,
                                       uint32_t copy_count, const VkCopyDescriptorSet* copies) {
  next<PFN_vkUpdateDescriptorSets>(device, "vkUpdateDescriptorSets")(device, count, writes, copy_count,
                                                                     copies);
  for (const VkWriteDescriptorSet* write = writes; write < writes + count; ++write)
    for (uint32_t i = 0; i < write->descriptorCount; ++i) {
      if (!is_image(write->descriptorType) && !is_buffer(write->descriptorType)) continue;
      Event event("write");
      event.handle("set", write->dstSet)
          .add("binding", write->dstBinding)
          .add("element", write->dstArrayElement + i)
          .add("type", write->descriptorType);
      if (is_image(write->descriptorType))
        event.handle("view", write->pImageInfo[i].imageView);
      else
        event.handle("buffer", write->pBufferInfo[i].buffer)
            .add("offset", write->pBufferInfo[i].offset)
            .add("range", write->pBufferInfo[i].range);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice device, const VkDescriptorSetAllocateInfo* info,
                                             VkDescriptorSet* sets) {
  const VkResult result =
      next<PFN_vkAllocateDescriptorSets>(device, "vkAllocateDescriptorSets")(device, info, sets);
  const std::lock_guard lock(record().mutex);
  for (uint32_t i = 0; result == VK_SUCCESS && i < info->descriptorSetCount; ++i)
    record().number("set", sets[i], true);
  return result;
}

std::string value_of(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      return std::to_string(statistic.value.b32);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return std::to_string(statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return std::to_string(statistic.value.u64);
    default:
      return std::to_string(statistic.value.f64);
  }
}

// Returns what a Vulkan function enumerates, after asking it how many there are.
template <typename Element, typename Function, typename Info>
std::vector<Element> enumerated(VkDevice device, const char* name, VkStructureType type, const Info& info) {
  const auto enumerate = next<Function>(device, name);
  uint32_t count = 0;
  enumerate(device, &info, &count, nullptr);
  std::vector<Element> elements(count);
  for (Element& element : elements) element.sType = type;
  enumerate(device, &info, &count, elements.data());
  return elements;
}

// Writes the text representations of an executable, the last of which is its assembly.
void write_representations(VkDevice device, const VkPipelineExecutableInfoKHR& info, std::ostream& file) {
  constexpr const char* kName = "vkGetPipelineExecutableInternalRepresentationsKHR";
  using Function = PFN_vkGetPipelineExecutableInternalRepresentationsKHR;
  auto texts = enumerated<VkPipelineExecutableInternalRepresentationKHR, Function>(
      device, kName, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR, info);
  std::vector<std::string> contents(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    contents[i].resize(texts[i].dataSize);
    texts[i].pData = contents[i].data();
  }
  auto count = static_cast<uint32_t>(texts.size());
  next<Function>(device, kName)(device, &info, &count, texts.data());
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i].isText) file << "==== " << texts[i].name << '\n' << contents[i].c_str() << '\n';
}

void write_pipeline(VkDevice device, VkPipeline pipeline, int number, VkShaderModule module) {
  const auto& words = record().modules[module];
  std::ofstream(record().folder + "/" + std::to_string(number) + ".spv", std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(4 * words.size()));
  const VkPipelineInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
  const auto executables =
      enumerated<VkPipelineExecutablePropertiesKHR, PFN_vkGetPipelineExecutablePropertiesKHR>(
          device, "vkGetPipelineExecutablePropertiesKHR",
          VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR, info);
  for (uint32_t i = 0; i < executables.size(); ++i) {
    std::ofstream file(record().folder + "/" + std::to_string(number) + "." + std::to_string(i) + ".txt");
    file << "subgroup size: " << executables[i].subgroupSize << '\n';
    const VkPipelineExecutableInfoKHR executable = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr,
                                                    pipeline, i};
    for (const auto& statistic :
         enumerated<VkPipelineExecutableStatisticKHR, PFN_vkGetPipelineExecutableStatisticsKHR>(
             device, "vkGetPipelineExecutableStatisticsKHR",
             VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR, executable))
      file << statistic.name << ": " << value_of(statistic) << '\n';
    write_representations(device, executable, file);
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* callbacks,
                                                VkPipeline* pipelines) {
  std::vector<VkComputePipelineCreateInfo> with(infos, infos + count);
  for (auto& info : with)
    info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                  VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  const VkResult result = next<PFN_vkCreateComputePipelines>(device, "vkCreateComputePipelines")(
      device, cache, count, with.data(), callbacks, pipelines);
  const std::lock_guard lock(record().mutex);
  for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i) {
    const int number = record().number("pipeline", pipelines[i], true);
    Event("pipeline").add("handle", number);
    write_pipeline(device, pipelines[i], number, infos[i].stage.module);
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point,
                                         VkPipeline pipeline) {
  next<PFN_vkCmdBindPipeline>("vkCmdBindPipeline")(commands, point, pipeline);
  Event("bind_pipeline").handle("commands", commands).handle("pipeline", pipeline);
}

VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                     VkPipelineLayout layout, uint32_t first, uint32_t count,
                                     const VkDescriptorSet* sets, uint32_t offset_count,
                                     const uint32_t* offsets) {
  next<PFN_vkCmdBindDescriptorSets>("vkCmdBindDescriptorSets")(commands, point, layout, first, count, sets,
                                                               offset_count, offsets);
  for (uint32_t i = 0; i < count; ++i)
    Event("bind_set").handle("commands", commands).add("index", first + i).handle("set", sets[i]);
}

VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  next<PFN_vkCmdDispatch>("vkCmdDispatch")(commands, x, y, z);
  Event("dispatch").handle("commands", commands).add("x", x).add("y", y).add("z", z);
}

VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags source,
                                   VkPipelineStageFlags target, VkDependencyFlags flags, uint32_t count,
                                   const VkMemoryBarrier* memory, uint32_t buffer_count,
                                   const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                                   const VkImageMemoryBarrier* images) {
  next<PFN_vkCmdPipelineBarrier>("vkCmdPipelineBarrier")(commands, source, target, flags, count, memory,
                                                         buffer_count, buffers, image_count, images);
  Event("barrier").handle("commands", commands);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos,
                                      VkFence fence) {
  Event("submit").add("count", count);
  return next<PFN_vkQueueSubmit>("vkQueueSubmit")(queue, count, infos, fence);
}

// Dawn asks for the size and then for the data, and takes VK_INCOMPLETE for an error. Mesa's driver for Mali
// gives it, because its cache grows in between.
VKAPI_ATTR VkResult VKAPI_CALL get_cache_data(VkDevice device, VkPipelineCache cache, size_t* size,
                                              void* data) {
  const VkResult result =
      next<PFN_vkGetPipelineCacheData>(device, "vkGetPipelineCacheData")(device, cache, size, data);
  return result == VK_INCOMPLETE ? VK_SUCCESS : result;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name);

template <typename Function>
PFN_vkVoidFunction plain(Function function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

PFN_vkVoidFunction own_function(const char* name) {
  static const std::map<std::string, PFN_vkVoidFunction> functions = {
      {"vkGetInstanceProcAddr", plain(get_instance_function)},
      {"vkGetDeviceProcAddr", plain(get_device_function)},
      {"vkCreateInstance", plain(create_instance)},
      {"vkCreateDevice", plain(create_device)},
      {"vkCreateBuffer", plain(create_buffer)},
      {"vkCreateImage", plain(create_image)},
      {"vkCreateImageView", plain(create_view)},
      {"vkCreateShaderModule", plain(create_module)},
      {"vkAllocateDescriptorSets", plain(allocate_sets)},
      {"vkUpdateDescriptorSets", plain(update_sets)},
      {"vkCreateComputePipelines", plain(create_pipelines)},
      {"vkCmdBindPipeline", plain(bind_pipeline)},
      {"vkCmdBindDescriptorSets", plain(bind_sets)},
      {"vkCmdDispatch", plain(dispatch)},
      {"vkCmdPipelineBarrier", plain(barrier)},
      {"vkQueueSubmit", plain(submit)},
      {"vkGetPipelineCacheData", plain(get_cache_data)},
  };
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
  const auto own = own_function(name);
  return own ? own : next_device_function(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name) {
  const auto own = own_function(name);
  return own ? own : next_instance_function(instance, name);
}

}  // namespace
}  // namespace vellum::test

VELLUM_EXPORT VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  return vellum::test::negotiate(*interface, vellum::test::get_instance_function,
                                 vellum::test::get_device_function);
}

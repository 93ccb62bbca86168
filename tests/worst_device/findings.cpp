#include "worst_device/findings.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "vulkan/spirv_interface.hpp"
#include "worst_device/finding_marks.hpp"

namespace vellum::test {
namespace {

// A device's functions, its buffer of words, and the set that binds it.
struct FindingLog {
  VkDevice device = VK_NULL_HANDLE;
  PFN_vkGetDeviceProcAddr driver = nullptr;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE, empty_layout = VK_NULL_HANDLE;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
  uint32_t* words = nullptr;

  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(driver(device, name));
  }
};
#define VELLUM_DRIVER(log, name) (log).function<PFN_##name>(#name)

struct FindingState {
  std::mutex mutex;
  std::map<VkDevice, std::unique_ptr<FindingLog>> logs;
  std::map<VkPipelineLayout, const FindingLog*> log_of_layout;
  std::map<uint32_t, std::string> shaders;  // by slot
  std::vector<std::string> findings;        // of devices that exist no more
  PFN_vkCmdBindDescriptorSets bind_sets = nullptr;
  PFN_vkGetDeviceProcAddr driver = nullptr;
};

FindingState& finding_state() {
  static FindingState all;
  return all;
}

void check(VkResult result) {
  if (result != VK_SUCCESS) throw std::runtime_error("the log of findings cannot be made");
}

// Memory that the host sees without flushes; drivers for CPUs have no other.
uint32_t coherent_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed) {
  constexpr VkMemoryPropertyFlags kWanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((allowed >> i & 1) && (memory.memoryTypes[i].propertyFlags & kWanted) == kWanted) return i;
  throw std::runtime_error("no memory for the log of findings");
}

void make_buffer(FindingLog& log, const VkPhysicalDeviceMemoryProperties& types) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kFindingSlots * sizeof(uint32_t);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  check(VELLUM_DRIVER(log, vkCreateBuffer)(log.device, &info, nullptr, &log.buffer));
  VkMemoryRequirements needed;
  VELLUM_DRIVER(log, vkGetBufferMemoryRequirements)(log.device, log.buffer, &needed);
  VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needed.size;
  allocation.memoryTypeIndex = coherent_type(types, needed.memoryTypeBits);
  check(VELLUM_DRIVER(log, vkAllocateMemory)(log.device, &allocation, nullptr, &log.memory));
  check(VELLUM_DRIVER(log, vkBindBufferMemory)(log.device, log.buffer, log.memory, 0));
  void* bytes = nullptr;
  check(VELLUM_DRIVER(log, vkMapMemory)(log.device, log.memory, 0, VK_WHOLE_SIZE, 0, &bytes));
  log.words = static_cast<uint32_t*>(bytes);
  std::memset(bytes, 0, info.size);
}

void make_set(FindingLog& log) {
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  const auto create_layout = VELLUM_DRIVER(log, vkCreateDescriptorSetLayout);
  check(create_layout(log.device, &info, nullptr, &log.empty_layout));
  const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                             VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  info.bindingCount = 1;
  info.pBindings = &binding;
  check(create_layout(log.device, &info, nullptr, &log.set_layout));
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = 1;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  check(VELLUM_DRIVER(log, vkCreateDescriptorPool)(log.device, &pool, nullptr, &log.pool));
  VkDescriptorSetAllocateInfo allocation{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocation.descriptorPool = log.pool;
  allocation.descriptorSetCount = 1;
  allocation.pSetLayouts = &log.set_layout;
  check(VELLUM_DRIVER(log, vkAllocateDescriptorSets)(log.device, &allocation, &log.set));
  const VkDescriptorBufferInfo range{log.buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = log.set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &range;
  VELLUM_DRIVER(log, vkUpdateDescriptorSets)(log.device, 1, &write, 0, nullptr);
}

std::string sentence(uint32_t slot, Finding finding) {
  const auto shader = finding_state().shaders.find(slot);
  return (shader == finding_state().shaders.end() ? "a shader" : shader->second) +
         (finding == Finding::conflicting_accesses
              ? " accesses shared memory from two invocations without a barrier between them"
              : " has a signed integer that overflows");
}

void read_findings(FindingLog& log) {
  for (uint32_t slot = 0; slot < kFindingSlots; ++slot) {
    const uint32_t found = std::exchange(log.words[slot], 0);
    for (const Finding finding : {Finding::conflicting_accesses, Finding::signed_overflow})
      if (found & static_cast<uint32_t>(finding)) finding_state().findings.push_back(sentence(slot, finding));
  }
}

VKAPI_ATTR VkResult VKAPI_CALL create_layout_with_log(VkDevice device, const VkPipelineLayoutCreateInfo* info,
                                                      const VkAllocationCallbacks* callbacks,
                                                      VkPipelineLayout* layout) {
  const std::lock_guard lock(finding_state().mutex);
  const FindingLog& log = *finding_state().logs.at(device);
  if (info->setLayoutCount > kFindingSet) throw std::runtime_error("a layout has the set of the findings");
  const VkDescriptorSetLayout sets[] = {info->setLayoutCount == 0 ? log.empty_layout : info->pSetLayouts[0],
                                        log.set_layout};
  VkPipelineLayoutCreateInfo extended = *info;
  extended.setLayoutCount = kFindingSet + 1;
  extended.pSetLayouts = sets;
  const VkResult result = VELLUM_DRIVER(log, vkCreatePipelineLayout)(device, &extended, callbacks, layout);
  if (result == VK_SUCCESS) finding_state().log_of_layout[*layout] = &log;
  return result;
}

VKAPI_ATTR void VKAPI_CALL bind_sets_and_log(VkCommandBuffer commands, VkPipelineBindPoint point,
                                             VkPipelineLayout layout, uint32_t first, uint32_t count,
                                             const VkDescriptorSet* sets, uint32_t offset_count,
                                             const uint32_t* offsets) {
  finding_state().bind_sets(commands, point, layout, first, count, sets, offset_count, offsets);
  const std::lock_guard lock(finding_state().mutex);
  const VkDescriptorSet set = finding_state().log_of_layout.at(layout)->set;
  finding_state().bind_sets(commands, point, layout, kFindingSet, 1, &set, 0, nullptr);
}

VKAPI_ATTR void VKAPI_CALL destroy_device_and_log(VkDevice device, const VkAllocationCallbacks* callbacks) {
  const std::lock_guard lock(finding_state().mutex);
  const auto destroy =
      reinterpret_cast<PFN_vkDestroyDevice>(finding_state().driver(device, "vkDestroyDevice"));
  const auto found = finding_state().logs.find(device);
  if (found == finding_state().logs.end()) return destroy(device, callbacks);
  FindingLog& log = *found->second;
  read_findings(log);
  VELLUM_DRIVER(log, vkDestroyDescriptorPool)(device, log.pool, nullptr);
  VELLUM_DRIVER(log, vkDestroyDescriptorSetLayout)(device, log.set_layout, nullptr);
  VELLUM_DRIVER(log, vkDestroyDescriptorSetLayout)(device, log.empty_layout, nullptr);
  VELLUM_DRIVER(log, vkDestroyBuffer)(device, log.buffer, nullptr);
  VELLUM_DRIVER(log, vkFreeMemory)(device, log.memory, nullptr);
  std::erase_if(finding_state().log_of_layout, [&](const auto& layout) { return layout.second == &log; });
  finding_state().logs.erase(found);
  destroy(device, callbacks);
}

}  // namespace

PFN_vkVoidFunction findings_function(VkDevice device, const char* name, PFN_vkGetDeviceProcAddr driver,
                                     const VkPhysicalDeviceMemoryProperties& memory) {
  const std::lock_guard lock(finding_state().mutex);
  finding_state().driver = driver;
  const std::string_view wanted(name);
  if (wanted == "vkCmdBindDescriptorSets") {
    finding_state().bind_sets = reinterpret_cast<PFN_vkCmdBindDescriptorSets>(driver(device, name));
    return reinterpret_cast<PFN_vkVoidFunction>(bind_sets_and_log);
  }
  if (wanted == "vkDestroyDevice") return reinterpret_cast<PFN_vkVoidFunction>(destroy_device_and_log);
  if (wanted != "vkCreatePipelineLayout") return nullptr;
  std::unique_ptr<FindingLog>& log = finding_state().logs[device];
  if (!log) {
    log = std::make_unique<FindingLog>();
    log->device = device;
    log->driver = driver;
    make_buffer(*log, memory);
    make_set(*log);
  }
  return reinterpret_cast<PFN_vkVoidFunction>(create_layout_with_log);
}

void note_shader(uint32_t slot, std::span<const uint32_t> module) {
  const std::lock_guard lock(finding_state().mutex);
  std::string& shader = finding_state().shaders[slot];
  if (!shader.empty()) return;
  const std::string block = gpu::read_spirv_interface(module).parameter_block;
  shader = "the shader " + std::to_string(slot) + (block.empty() ? "" : " of " + block);
}

std::vector<std::string> take_findings() {
  const std::lock_guard lock(finding_state().mutex);
  for (const auto& [device, log] : finding_state().logs) read_findings(*log);
  return std::exchange(finding_state().findings, {});
}

}  // namespace vellum::test

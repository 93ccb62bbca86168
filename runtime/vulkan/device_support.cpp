#include "vulkan/device_support.hpp"

#include <algorithm>
#include <cstring>

namespace vellum::gpu {
namespace {

// Returns where the feature is in the chain; null if the chain has no structure with it.
std::byte* find_feature(void* chain, const Feature& feature) {
  for (auto* link = static_cast<VkBaseOutStructure*>(chain); link; link = link->pNext) {
    const auto type = static_cast<vk::StructureType>(link->sType);
    if (type == feature.structure) return reinterpret_cast<std::byte*>(link) + feature.offset;
    if (type == feature.core) return reinterpret_cast<std::byte*>(link) + feature.core_offset;
  }
  return nullptr;
}

// All structures of features begin alike, and all of their members are VkBool32.
std::unique_ptr<std::byte[]> make_structure(const Feature& feature, void* next) {
  auto structure = std::make_unique<std::byte[]>(feature.bytes);
  const VkBaseOutStructure header{static_cast<VkStructureType>(feature.structure),
                                  static_cast<VkBaseOutStructure*>(next)};
  std::memcpy(structure.get(), &header, sizeof(header));
  return structure;
}

bool is_on(const std::byte* feature) {
  VkBool32 value = VK_FALSE;
  if (feature) std::memcpy(&value, feature, sizeof(value));
  return value == VK_TRUE;
}

}  // namespace

bool EnabledFeatures::has(const char* extension) const {
  return std::ranges::any_of(extensions, [&](const char* name) { return std::strcmp(name, extension) == 0; });
}

bool EnabledFeatures::has(const Feature& feature) const {
  return is_on(find_feature(const_cast<void*>(chain), feature));  // which only reads
}

DeviceSupport::DeviceSupport(const vk::raii::PhysicalDevice& device, const EnabledFeatures* enabled)
    : device_(device), enabled_(enabled), extensions_(device.enumerateDeviceExtensionProperties()) {}

bool DeviceSupport::offers(const char* extension) const {
  return std::ranges::any_of(extensions_, [&](const vk::ExtensionProperties& properties) {
    return std::strcmp(properties.extensionName, extension) == 0;
  });
}

bool DeviceSupport::has(const char* extension) const {
  return offers(extension) && (!enabled_ || enabled_->has(extension));
}

bool DeviceSupport::has(const Feature& feature) const {
  if (enabled_ && !enabled_->has(feature)) return false;
  const std::unique_ptr<std::byte[]> structure = make_structure(feature, nullptr);
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, structure.get(), {}};
  device_.getDispatcher()->vkGetPhysicalDeviceFeatures2(*device_, &features);
  return is_on(structure.get() + feature.offset);
}

void FeatureChain::enable(const Feature& feature) {
  std::byte* found = find_feature(head_, feature);
  if (!found) {
    structures_.push_back(make_structure(feature, head_));
    head_ = structures_.back().get();
    found = structures_.back().get() + feature.offset;
  }
  constexpr VkBool32 kOn = VK_TRUE;
  std::memcpy(found, &kOn, sizeof(kOn));
}

}  // namespace vellum::gpu

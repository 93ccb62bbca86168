#include "vulkan/device_requirements.hpp"

#include <algorithm>
#include <iterator>

#include "vellum/error.hpp"
#include "vulkan/adopted_device.hpp"
#include "vulkan/device_uses.hpp"
#include "vulkan/error_translation.hpp"

namespace vellum {

struct DeviceRequirements::Impl {
  gpu::QueueFamilies families;
  std::vector<DeviceUse> uses;
  std::vector<const char*> extensions;
  std::vector<gpu::Feature> features;
  std::vector<gpu::FeatureChain> chains;  // of enable_features(): their structures
};

DeviceRequirements::Impl& DeviceRequirements::checked() const {
  if (!impl_)
    throw Error(ErrorCode::invalid_argument,
                "the requirements of a device hold nothing: they were moved from");
  return *impl_;
}

const std::vector<DeviceUse>& DeviceRequirements::uses() const { return checked().uses; }
const std::vector<const char*>& DeviceRequirements::extensions() const { return checked().extensions; }
uint32_t DeviceRequirements::compute_family() const { return checked().families.compute; }
std::optional<uint32_t> DeviceRequirements::transfer_family() const { return checked().families.transfer; }

void* DeviceRequirements::enable_features(void* chain) const {
  gpu::FeatureChain& own = checked().chains.emplace_back(chain);
  for (const gpu::Feature& feature : checked().features) own.enable(feature);
  return own.head();
}

std::shared_ptr<DeviceRequirements::Impl> gpu::device_requirements(const VulkanPhysicalDevice& device) {
  return translated("describing the application's device", [&] {
    const Instance instance(device);
    vk::raii::PhysicalDevice handle = adopted_physical_device(instance, device);
    auto requirements = std::make_shared<DeviceRequirements::Impl>();
    requirements->families = *choose_queue_families(handle);
    const PhysicalDevice physical = with_cooperative_matrices(
        describe_device(std::move(handle), instance.api_version(), requirements->families, nullptr));
    for (const Use& use : device_uses(physical, physical.caps)) {
      DeviceUse& listed = requirements->uses.emplace_back();
      listed.purpose = use.purpose;
      listed.required = use.required;
      listed.extensions = use.extensions;
      for (const Feature& feature : use.features) listed.features.push_back(feature.name);
      std::ranges::copy(use.extensions, std::back_inserter(requirements->extensions));
      std::ranges::copy(use.features, std::back_inserter(requirements->features));
    }
    return requirements;
  });
}

}  // namespace vellum

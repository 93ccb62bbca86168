// A driver that reports cooperative matrices and crashes when it is asked which.
#include <cstdint>
#include <string_view>

#include "faulty_driver/faulty_state.hpp"

namespace vellum::test {
namespace {

// A device that has VK_NV_cooperative_matrix, or rather says so: no shader of it is made.
VKAPI_ATTR VkResult VKAPI_CALL list_matrices_extension(VkPhysicalDevice device, const char* layer,
                                                       uint32_t* count, VkExtensionProperties* properties) {
  if (layer) return faulty().list_extensions(device, layer, count, properties);
  if (!properties) {
    const VkResult result = faulty().list_extensions(device, nullptr, count, nullptr);
    ++*count;
    return result;
  }
  const uint32_t capacity = *count;
  const VkResult result = faulty().list_extensions(device, nullptr, count, properties);
  if (result != VK_SUCCESS || *count == capacity) return VK_INCOMPLETE;
  VkExtensionProperties& added = properties[(*count)++];
  added = {};
  std::string_view(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)
      .copy(added.extensionName, VK_MAX_EXTENSION_NAME_SIZE - 1);
  added.specVersion = 1;
  return VK_SUCCESS;
}

// Returns the structure of that type in the chain, or null.
template <typename Structure>
Structure* in_chain(void* chain, VkStructureType type) {
  for (auto* next = static_cast<VkBaseOutStructure*>(chain); next; next = next->pNext)
    if (next->sType == type) return reinterpret_cast<Structure*>(next);
  return nullptr;
}

VKAPI_ATTR void VKAPI_CALL get_matrices_feature(VkPhysicalDevice device,
                                                VkPhysicalDeviceFeatures2* features) {
  faulty().features(device, features);
  if (auto* matrices = in_chain<VkPhysicalDeviceCooperativeMatrixFeaturesNV>(
          features->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV))
    matrices->cooperativeMatrix = VK_TRUE;
}

VKAPI_ATTR void VKAPI_CALL get_matrices_stages(VkPhysicalDevice device,
                                               VkPhysicalDeviceProperties2* properties) {
  faulty().properties(device, properties);
  if (auto* matrices = in_chain<VkPhysicalDeviceCooperativeMatrixPropertiesNV>(
          properties->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_NV))
    matrices->cooperativeMatrixSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
}

VKAPI_ATTR VkResult VKAPI_CALL end_in_matrices_query(VkPhysicalDevice, uint32_t*,
                                                     VkCooperativeMatrixPropertiesNV*) {
  end_process();
}

}  // namespace

PFN_vkVoidFunction matrices_function(std::string_view wanted, PFN_vkVoidFunction real) {
  const auto wrapped = [real](auto& kept, auto* wrapper) { return wrapped_function(real, kept, wrapper); };
  if (wanted == "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV")
    return reinterpret_cast<PFN_vkVoidFunction>(end_in_matrices_query);
  if (wanted == "vkEnumerateDeviceExtensionProperties")
    return wrapped(faulty().list_extensions, list_matrices_extension);
  if (wanted == "vkGetPhysicalDeviceFeatures2") return wrapped(faulty().features, get_matrices_feature);
  if (wanted == "vkGetPhysicalDeviceProperties2") return wrapped(faulty().properties, get_matrices_stages);
  return nullptr;
}

}  // namespace vellum::test

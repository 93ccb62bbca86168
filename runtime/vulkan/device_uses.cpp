#include "vulkan/device_uses.hpp"

#include <algorithm>
#include <utility>

#include "vulkan/cooperative_matrices.hpp"

namespace vellum::gpu {
namespace {

// `matrices`: those of the device, all of one extension.
Use cooperative_matrices_use(const std::vector<CooperativeMatrix>& matrices) {
  Use use{"products of cooperative matrices"};
  // With the memory model, atomics and barriers of the device's scope need a feature of their own, in all
  // shaders.
  use.features = {kMemoryModel, kMemoryModelDeviceScope};
  if (std::ranges::any_of(matrices, multiplies_bytes)) use.features.push_back(kShaderInt8);
#ifdef VK_KHR_cooperative_matrix
  if (matrices.front().extension == MatrixExtension::khr) {
    use.extensions.push_back(kCooperativeMatrixKhrName);
    use.features.push_back(kCooperativeMatrixKhr);
    return use;
  }
#endif
  use.extensions.push_back(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
  use.features.push_back(kCooperativeMatrixNv);
  return use;
}

// Adds those of the extensions for shared memory and semaphores that the device has.
void add_external_uses(const ExternalExtensions& external, std::vector<Use>& uses) {
  const auto add = [&](bool has, const char* purpose, std::vector<const char*> extensions) {
    if (has) uses.push_back({purpose, false, std::move(extensions)});
  };
  add(external.memory_fd, "memory shared as file descriptors", {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME});
  add(external.dma_buf, "memory shared as dma-bufs", {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME});
  add(external.memory_win32, "memory shared as handles of Windows", {kMemoryWin32});
  add(external.host_pointer, "buffers in memory of the host", {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME});
  add(external.foreign_queues, "memory shared with other drivers",
      {VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME});
  add(external.hardware_buffer, "hardware buffers of Android", {kHardwareBuffer});
  add(external.semaphore_fd, "semaphores shared as file descriptors",
      {VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME});
  add(external.semaphore_win32, "semaphores shared as handles of Windows", {kSemaphoreWin32});
}

}  // namespace

std::vector<Use> device_uses(const PhysicalDevice& device, const DeviceCaps& caps) {
  std::vector<Use> uses;
  // Vulkan requires that it is enabled where a device offers it. What the subset makes optional (swizzled and
  // reinterpreted image views, 2D views of 3D images, events, mip bias of samplers, and what belongs to
  // rendering: VkPhysicalDevicePortabilitySubsetFeaturesKHR) is nothing that Vellum uses, so no feature of it
  // is enabled.
  if (device.caps.portability_driver) uses.push_back({"a portability driver", true, {kPortabilitySubset}});
  if (caps.fp16_buffer_storage)
    uses.push_back({"halves in storage buffers", false, {}, {kStorageBuffer16Bit}});
  if (caps.fp16_arithmetic) {
    uses.push_back({"arithmetic in halves", false, {}, {kShaderFloat16}});
    // Core since 1.2.
    if (device.caps.api_version < VK_API_VERSION_1_2)
      uses.back().extensions.push_back(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  }
  if (caps.declares_inf_nan_preserve && device.caps.api_version < VK_API_VERSION_1_2)  // core since then
    uses.push_back({"infinities and NaN", false, {VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME}, {}});
  if (caps.full_subgroups) {
    uses.push_back({"full subgroups of a known size", false, {}, {kSubgroupSizeControl, kFullSubgroups}});
    if (device.subgroups.by_extension)
      uses.back().extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  }
  if (caps.integer_dot_products && device.caps.integer_dot_products) {
    uses.push_back({"dot products of bytes", false, {}, {kIntegerDotProduct}});
    if (device.caps.api_version < VK_API_VERSION_1_3)  // core since then
      uses.back().extensions.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
  }
  if (device.ycbcr)
    uses.push_back({"images of several planes, as of cameras", false, {}, {kSamplerYcbcrConversion}});
  if (device.maintenance4)
    uses.push_back({"memory requirements without creating objects", false, {}, {kMaintenance4}});
  if (device.pipeline_statistics)
    uses.push_back({"what the compiler makes of shaders",
                    false,
                    {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME},
                    {kPipelineExecutableInfo}});
  add_external_uses(device.external_extensions, uses);
  if (caps.memory_budget)
    uses.push_back({"the memory that is left", false, {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME}});
  // The caps may claim more than the device has (ContextOptions::adjust_caps).
  if (!caps.cooperative_matrices.empty() && !device.caps.cooperative_matrices.empty())
    uses.push_back(cooperative_matrices_use(device.caps.cooperative_matrices));
  return uses;
}

}  // namespace vellum::gpu

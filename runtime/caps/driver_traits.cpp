#include "caps/driver_traits.hpp"

namespace vellum {
namespace {

// PCI vendor numbers; Vulkan reports the same for vendors without PCI devices (Vulkan spec,
// VkPhysicalDeviceProperties).
constexpr uint32_t kArm = 0x13B5;
constexpr uint32_t kImagination = 0x1010;
constexpr uint32_t kQualcomm = 0x5143;
constexpr uint32_t kGoogle = 0x1AE0;  // SwiftShader
constexpr uint32_t kMesa = 0x10005;   // lavapipe

}  // namespace

void apply_default_traits(DeviceCaps& caps) {
  // Software: a storage image load is an address computation and a load, while texelFetch goes through the
  // sampler. Desktop GPUs reach images and buffers through the same caches and read both kinds of images
  // alike.
  caps.prefers_images = true;
  caps.reads_images_as_storage = true;
  caps.reads_buffers_as_texels = false;
  caps.memory = {};
  switch (caps.vendor_id) {
    case kQualcomm:  // Adreno: the L1 cache belongs to the texture units, and only sampled reads pass through
                     // them
      caps.reads_images_as_storage = false;
      break;
    case kArm:  // Mali: the texture units take one texel a cycle, the load units a vec4 from any buffer
      caps.prefers_images = false;
      caps.reads_images_as_storage = false;
      break;
    case kImagination:
      caps.reads_images_as_storage = false;
      break;
    case kMesa:
      if (caps.type != DeviceType::cpu) break;
      // Measured on lavapipe 22.3: storing a vec4 takes 2 ns in a buffer and 17 ns in an image, loading
      // one 2.5 ns from a storage buffer and 0.9 ns from a texel buffer or an image.
      caps.prefers_images = false;
      caps.reads_buffers_as_texels = true;
      caps.memory = {4, 4, 64, 16, 64};  // by vkGetDeviceImageMemoryRequirements, as the next
      break;
    case kGoogle:
      if (caps.type == DeviceType::cpu) caps.memory = {2, 2, 1, 16, 256};
      break;
    default:
      break;
  }
}

void apply_driver_quirks(DeviceCaps& caps) {
  // Adreno drivers without 16-bit storage compute wrong results in fp16.
  if (caps.vendor_id == kQualcomm && !caps.fp16_buffer_storage) caps.fp16_arithmetic = false;
  // Some Mali drivers say 0 for the subgroup size and yet claim subgroup operations.
  if (caps.subgroup_size == 0)
    caps.subgroup_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = false;
}

// Measured on lavapipe 22.3: creating squeezenet1_1's eight pipelines takes 50 ms of CPU time, their first
// dispatches 600 ms.
bool compiles_at_first_dispatch(const DeviceCaps& caps) {
  return caps.vendor_id == kMesa && caps.type == DeviceType::cpu;
}

// Pointwise convolutions that hand weights round take 0.8 to 0.96 of the time on lavapipe of Mesa 25.0, 0.8
// for two of three shapes (1.4 for the third) on 26.1, 1.4 to 1.5 of it on 22.3. Of GPUs nothing was measured.
bool broadcasts_are_cheaper_than_loads(const DeviceCaps& caps) {
  constexpr uint32_t kMesa25 = 25u << 22;  // as VK_MAKE_API_VERSION packs it
  return caps.vendor_id == kMesa && caps.type == DeviceType::cpu && caps.driver_version >= kMesa25;
}

}  // namespace vellum

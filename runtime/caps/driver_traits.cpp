#include "caps/driver_traits.hpp"

namespace vellum {
namespace {

// PCI vendor numbers; Vulkan reports the same for vendors without PCI devices (Vulkan spec,
// VkPhysicalDeviceProperties).
constexpr uint32_t kArm = 0x13B5;
constexpr uint32_t kImagination = 0x1010;
constexpr uint32_t kQualcomm = 0x5143;

}  // namespace

void apply_default_traits(DeviceCaps& caps) {
  // Software: a storage image load is an address computation and a load, while texelFetch goes through the
  // sampler. Desktop GPUs reach images and buffers through the same caches and read both kinds of images
  // alike.
  caps.prefers_images = true;
  caps.reads_images_as_storage = true;
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
    default:
      break;
  }
}

void apply_driver_quirks(DeviceCaps& caps) {
  // Adreno drivers without 16-bit storage compute wrong results in fp16.
  if (caps.vendor_id == kQualcomm && !caps.fp16_buffer_storage) caps.fp16_arithmetic = false;
  // Some Mali drivers say 0 for the subgroup size and yet claim subgroup operations.
  if (caps.subgroup_size == 0) caps.subgroup_arithmetic = false;
}

}  // namespace vellum

// Vellum inside an application that has a Vulkan device of its own; external.hpp beside it shares memory.
//
//   vellum::DeviceRequirements wants = vellum::Device::requirements({vkGetInstanceProcAddr, instance,
//                                                                    VK_API_VERSION_1_3, physical_device});
//   extensions.insert(extensions.end(), wants.extensions().begin(), wants.extensions().end());
//   device_info.pNext = wants.enable_features(device_info.pNext);  // ... vkCreateDevice(...)
//
//   vellum::VulkanDevice mine{.physical = ..., .device = device, .compute = {queue, family},
//                             .extensions = extensions, .features = device_info.pNext};
//   vellum::Device device = vellum::Device::adopt(mine);
//   vellum::Session session(device, model);
//   vellum::BufferBinding image{"image", camera, 0, camera_bytes};
//   vellum::BufferBinding scores{"scores", results, 0, result_bytes};
//   vellum::Recording recording = session.record(commands, {&image, 1}, {&scores, 1});
//
// docs/embedding.md has a whole program.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/export.h"
#include "vellum/tensor.hpp"

namespace vellum {

// A physical device of the application's instance.
struct VulkanPhysicalDevice {
  PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  // VkApplicationInfo::apiVersion of the instance; Vulkan 1.1 or later.
  uint32_t api_version = VK_API_VERSION_1_1;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
};

// One thing that Vellum uses of a device beyond Vulkan 1.1.
struct DeviceUse {
  std::string purpose;                  // "arithmetic in halves"
  bool required = false;                // adopt() refuses a device without it; anything else is optional
  std::vector<const char*> extensions;  // static strings, as for VkDeviceCreateInfo
  std::vector<const char*> features;    // members of Vulkan's structures: "shaderFloat16"
};

// Extensions and features of a physical device of the application's instance: exactly those Vellum enables
// when it opens the device itself. Copies share the structures of enable_features().
class VELLUM_API DeviceRequirements {
 public:
  const std::vector<DeviceUse>& uses() const;
  // The extensions of all uses, without repetition.
  const std::vector<const char*>& extensions() const;
  // Switches on the features of all uses in a chain for VkDeviceCreateInfo::pNext and returns its new head.
  // Where the chain has a structure with the feature (its own, or VkPhysicalDeviceVulkan11Features and so
  // on), the feature is switched on there. For others structures are put before the chain; they live as long
  // as this object and its copies, and belong to one chain at a time.
  void* enable_features(void* chain) const;
  // The queue families that Vellum would use itself: one that computes, preferably without graphics, and one
  // that only copies, if there is one.
  uint32_t compute_family() const;
  std::optional<uint32_t> transfer_family() const;

  struct Impl;

 private:
  friend class Device;
  explicit DeviceRequirements(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

// A queue of the application's device.
struct VulkanQueue {
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  // Called around each use of the queue, from any thread; must not throw. Empty: only Vellum uses the queue.
  std::function<void()> lock = {}, unlock = {};
};

// Memory of the application's.
struct DeviceMemory {
  VkDeviceMemory memory = VK_NULL_HANDLE;  // null: there is none left
  VkDeviceSize offset = 0;                 // in `memory`, of the first byte
  void* mapped = nullptr;                  // the first byte in the host's memory, for a host-visible type
};

// The application's allocator, so that its budget includes what Vellum takes: weights, intermediate tensors,
// inputs and outputs, staging. Both are called from any thread and must not throw.
struct DeviceMemoryCallbacks {
  // Returns `bytes` of a memory type (an index in VkPhysicalDeviceMemoryProperties), whose offset is a
  // multiple of `alignment`, at most 64 KiB unless the device's limits are larger. Memory of a host-visible
  // type is mapped until it is freed; Vellum flushes and invalidates nothing outside of it. A null memory is
  // Error(out_of_memory), one that is not as asked Error(invalid_argument).
  std::function<DeviceMemory(VkDeviceSize bytes, uint32_t memory_type, VkDeviceSize alignment)> allocate = {};
  std::function<void(const DeviceMemory&)> free = {};
};

// The application's device. Vellum uses of it what the application enabled, and nothing else.
struct VulkanDevice {
  VulkanPhysicalDevice physical;
  VkDevice device = VK_NULL_HANDLE;
  VulkanQueue compute;
  // For copies beside compute work; nothing: they use the compute queue.
  std::optional<VulkanQueue> transfer = {};
  // As in VkDeviceCreateInfo: the names of the enabled extensions, and the chain of pNext with the enabled
  // features. Both are read by adopt() alone.
  std::span<const char* const> extensions = {};
  const void* features = nullptr;
  // For every object that Vellum makes on the device; copied. Null: Vulkan's own allocations.
  const VkAllocationCallbacks* allocation_callbacks = nullptr;
  // For all device memory; copied. Empty: Vellum calls vkAllocateMemory. Set both or none.
  DeviceMemoryCallbacks memory = {};
};

// How a buffer for an input or output must be made: Session::input_buffer() and output_buffer().
struct BufferLayout {
  // The type of the elements, which are dense and row-major in the model's order of dimensions: f32 for an
  // input or output of floats of any size (fp16 sessions included), i32 for integers and booleans, u8 for the
  // frames of with_frames() (vellum/frame.hpp).
  DType element = DType::f32;
  VkDeviceSize bytes = 0;      // the elements, padded to four; the padding has undefined content
  VkDeviceSize alignment = 1;  // of BufferBinding::offset
  VkBufferUsageFlags usage = 0;
};

// A range of the application's buffer for an input or output. In the sharing mode EXCLUSIVE the buffer
// belongs to the family of VulkanDevice::compute while the recorded commands run.
struct BufferBinding {
  std::string_view name;  // of the input or output
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceSize bytes = 0;  // from `offset` on, at least BufferLayout::bytes; VK_WHOLE_SIZE: to the end
  // The bytes from an element to its neighbour along each dimension of the input's or output's shape, for
  // rows with padding, interleaved channels, or a part of a larger array; `bytes` is then at least what they
  // reach. Multiples of the size of the elements, which have four bytes; frames have FrameInput::row_bytes
  // instead. Read by bind() and record() alone. It costs one dispatch, to or from a dense buffer of Vellum's.
  // Empty: the elements are dense.
  std::span<const VkDeviceSize> strides = {};
  // The queue family that owns the range before and after the inference: VK_QUEUE_FAMILY_EXTERNAL for memory
  // that is shared with another process (vellum/external.hpp), VK_QUEUE_FAMILY_FOREIGN_EXT for memory of
  // another driver. The recorded commands acquire it from this family first, and release it to the family
  // last. IGNORED: they do neither.
  uint32_t owner = VK_QUEUE_FAMILY_IGNORED;
};

// An image of the application's, read or written in place of a buffer: one level and layer of a 2D image of
// one sample.
//
// As an input, of a model of with_frames(): the frame. It is as large as FrameInput says, has the usage
// SAMPLED, and may have any format that the device samples and that reads as floats, in any tiling.
//
// Of one plane, red, green, blue and alpha are 255 times what the format stores (0..1 in normalised formats).
// For FrameFormat::grey8 red is all three colours; alpha is read for rgba8 and bgra8. Formats in sRGB read as
// linear values; give their UNORM format here for the bytes, which an image of the flag MUTABLE_FORMAT
// allows.
//
// VK_FORMAT_G8_B8R8_2PLANE_420_UNORM and VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM are for nv12, nv21 (the second
// plane is V before U) and i420, where samplerYcbcrConversion is enabled: Y, U and V are read as stored, and
// converted by FrameInput::matrix and range.
//
// Formats of one plane of 8 bits give the bits that the same bytes give in a buffer. The planes of Y, U and V
// do where the driver's sampler reads a byte n as n / 255; that of SwiftShader reads up to 1 / 255 less, and
// colours are within 4 / 255.
//
// As an output: [1, C, H, W] or [1, H, W, C] of one to four channels, [1, H, W] or [H, W]; of floats, or of
// uint8, which are divided by 255. Pixels get the channels as red, green, blue and alpha; colours that the
// output lacks are 0, alpha 1. The image has the usage STORAGE, a width and height of W and H, and is all
// written. Formats: R8G8B8A8_UNORM, R16G16B16A16_SFLOAT, R32G32B32A32_SFLOAT and R32_SFLOAT; R8_UNORM,
// R8G8_UNORM, R16_SFLOAT and R16G16_SFLOAT where VulkanDevice::features has
// shaderStorageImageExtendedFormats; B8G8R8A8_UNORM where it has shaderStorageImageWriteWithoutFormat. It
// costs one dispatch after the network, from a buffer of Vellum's.
struct ImageBinding {
  std::string_view name;  // of the input or output
  VkImage image = VK_NULL_HANDLE;
  // In which it is read or written; one that the image allows for views.
  VkFormat format = VK_FORMAT_UNDEFINED;
  // For an image of ExternalImage::import() in a format of the driver's own:
  // ExternalImage::external_format(). Then `format` is undefined, and the image is a frame in nv12, nv21 or
  // i420.
  uint64_t external_format = 0;
  uint32_t width = 0, height = 0;  // of the level
  // In which the image is while the recorded commands run; they leave it there. Of an input GENERAL or
  // SHADER_READ_ONLY_OPTIMAL, of an output GENERAL.
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  uint32_t mip_level = 0, array_layer = 0;
  uint32_t owner = VK_QUEUE_FAMILY_IGNORED;  // as BufferBinding::owner; in `layout` both times
};

// The arguments of Session::record() and bind(): each input once, and each output that is to be read once.
struct NetworkBindings {
  std::span<const BufferBinding> inputs = {}, outputs = {};
  std::span<const ImageBinding> input_images = {}, output_images = {};
  // Inputs that are not listed have the values of Session::set_input(), and outputs that are not listed are
  // read with Session::output(), after Session::run() of the recording. Otherwise every input is listed.
  // Recording::record(), submit() and run() throw Error(invalid_argument) while one that is not listed has
  // not been set.
  bool rest_on_host = false;
};

// A semaphore of the application's in a submit.
struct SemaphoreValue {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  std::optional<uint64_t> value = {};  // of a timeline semaphore; nothing: a binary one
};

// The device begins after `wait` and signals `signal` when it is done.
struct SubmitSemaphores {
  std::span<const SemaphoreValue> wait = {}, signal = {};
};

class RecordedNetwork;

// An inference with the application's buffers and images as inputs and outputs, that Session::record() has
// bound.
//
// Contract of the recorded commands. They are compute dispatches and pipeline barriers. They begin with a
// barrier for Vellum's own memory,
//   COMPUTE_SHADER, SHADER_WRITE -> COMPUTE_SHADER, SHADER_READ | SHADER_WRITE
// and end without one. Other dependencies are the application's:
//   before: what wrote an input             -> COMPUTE_SHADER, SHADER_READ
//           what read or wrote an output    -> COMPUTE_SHADER, SHADER_READ | SHADER_WRITE
//   after:  COMPUTE_SHADER, SHADER_WRITE    -> what reads an output
//           COMPUTE_SHADER (no access)      -> what writes an input
// Barriers of the application also bring images to ImageBinding::layout, and buffers and images of the
// sharing mode EXCLUSIVE to the family of VulkanDevice::compute where another family used them: release
// there, acquire here with the scope that "before" names, and the reverse with that of "after". Vellum's
// commands change neither, except for bindings with an `owner`: these are acquired and released with the same
// scopes. (VkPipelineStageFlagBits and VkAccessFlagBits without their prefixes. Outputs may
// be read and written several times within the inference.)
//
// The command buffer is recording, outside of a render pass, and of the family of VulkanDevice::compute.
// Afterwards the compute pipeline, descriptor set 0 and the push constants of the compute bind point are
// Vellum's. It may be submitted any number of times, one after another in one queue; all recordings of a
// session, its run() and its submit() use the same intermediate tensors, so commands of one must be done
// before those of another begin, unless both are recorded and in the same queue. Nothing is submitted, mapped
// or waited for by Vellum.
//
// Must live until no submitted command buffer that it was recorded to is pending or will be submitted again.
// It may outlive the session. Thread-safe for different command buffers.
class VELLUM_API Recording {
 public:
  Recording() = default;  // not valid()
  bool valid() const { return network_ != nullptr; }
  // Records the same inference into another command buffer, or into the same one after it was reset. Makes no
  // Vulkan objects. Throws Error(invalid_argument) for a null handle or a Recording that is not valid.
  void record(VkCommandBuffer commands) const;
  // Submits the same inference, from a command buffer of Vellum's, to its queue, VulkanDevice::compute. The
  // contract of recorded commands holds; the semaphores make what is written on one side visible on the
  // other. What is waited for is waited for by compute shaders. Returns at once: the application learns from
  // `signal` when the inference is done. Throws Error(device_lost) or Error(out_of_memory), and
  // Error(invalid_argument) for a Recording that is not valid or a null handle.
  void submit(const SubmitSemaphores& semaphores) const;
  // Submits as submit() does, and waits until the inference is done. Afterwards the host may read outputs in
  // memory that is mapped and coherent. Throws as submit().
  void run(const SubmitSemaphores& semaphores = {}) const;

 private:
  friend class Session;
  friend class HardwareFrames;
  std::shared_ptr<RecordedNetwork> network_;
};

}  // namespace vellum

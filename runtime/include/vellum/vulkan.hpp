// Vellum inside an application that has its own Vulkan device. external.hpp shares memory with other
// processes.
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

// A group of extensions and features beyond Vulkan 1.1 that Vellum uses for one purpose.
struct DeviceUse {
  std::string purpose;                  // such as "arithmetic in halves"
  bool required = false;                // true: adopt() refuses a device without it; false: optional
  std::vector<const char*> extensions;  // static strings, as for VkDeviceCreateInfo
  std::vector<const char*> features;    // members of Vulkan's structures: "shaderFloat16"
};

// The extensions and features of a physical device that Vellum enables when it opens the device itself.
// Copies share the structures of enable_features().
class VELLUM_API DeviceRequirements {
 public:
  const std::vector<DeviceUse>& uses() const;
  // The extensions of all uses, each once.
  const std::vector<const char*>& extensions() const;
  // Enables the features of all uses in a chain for VkDeviceCreateInfo::pNext and returns its new head. If
  // the chain has a structure with the feature (its own, or VkPhysicalDeviceVulkan11Features and so on), the
  // feature is enabled there. Missing structures are prepended; they live as long as this object and its
  // copies, and may be in one chain at a time.
  void* enable_features(void* chain) const;
  // The queue families that Vellum would choose itself: one that computes, preferably without graphics, and
  // one that only copies, if there is one.
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

// A suballocation from the application's allocator.
struct DeviceMemory {
  VkDeviceMemory memory = VK_NULL_HANDLE;  // null: out of memory
  VkDeviceSize offset = 0;                 // of the first byte in `memory`
  void* mapped = nullptr;                  // address of the first byte on the host, for a host-visible type
};

// The application's allocator for all device memory of Vellum: weights, intermediate tensors, inputs, outputs
// and staging. Both functions are called from any thread and must not throw.
struct DeviceMemoryCallbacks {
  // Returns `bytes` of a memory type (an index in VkPhysicalDeviceMemoryProperties) at a multiple of
  // `alignment`, which is at most 64 KiB unless the device's limits are larger. Memory of a host-visible type
  // must stay mapped until it is freed; Vellum flushes and invalidates nothing outside of it. A null memory
  // becomes Error(out_of_memory), a result that does not match the request Error(invalid_argument).
  std::function<DeviceMemory(VkDeviceSize bytes, uint32_t memory_type, VkDeviceSize alignment)> allocate = {};
  std::function<void(const DeviceMemory&)> free = {};
};

// The application's device. Vellum uses only the extensions and features that the application enabled.
struct VulkanDevice {
  VulkanPhysicalDevice physical;
  VkDevice device = VK_NULL_HANDLE;
  VulkanQueue compute;
  // A queue for copies in parallel with compute work. Empty: copies use the compute queue.
  std::optional<VulkanQueue> transfer = {};
  // As in VkDeviceCreateInfo: the names of the enabled extensions, and the pNext chain with the enabled
  // features. Only adopt() reads them.
  std::span<const char* const> extensions = {};
  const void* features = nullptr;
  // For every object that Vellum creates on the device. Copied by adopt(). Null: Vulkan's own allocations.
  const VkAllocationCallbacks* allocation_callbacks = nullptr;
  // For all device memory. Copied by adopt(). Empty: Vellum calls vkAllocateMemory. Set both functions or
  // neither.
  DeviceMemoryCallbacks memory = {};
};

// How a buffer for an input or output must be made: Session::input_buffer() and output_buffer().
struct BufferLayout {
  // The type of the elements, which are dense and row-major in the model's order of dimensions. f32 for
  // floats of any size (also in fp16 sessions), i32 for integers and booleans, u8 for the frames of
  // with_frames() (vellum/frame.hpp).
  DType element = DType::f32;
  VkDeviceSize bytes = 0;      // of the elements, rounded up to a multiple of four; the padding is undefined
  VkDeviceSize alignment = 1;  // of BufferBinding::offset
  VkBufferUsageFlags usage = 0;
};

// A range of the application's buffer for an input or output. A buffer of sharing mode EXCLUSIVE must be
// owned by the queue family of VulkanDevice::compute while the recorded commands run.
struct BufferBinding {
  std::string_view name;  // of the input or output
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceSize bytes = 0;  // of the range: BufferLayout::bytes or more; VK_WHOLE_SIZE: to the buffer's end
  // Strides in bytes, one for each dimension of the input or output, for rows with padding, interleaved
  // channels, or a part of a larger array. They are multiples of the element size, which is four bytes, and
  // `bytes` must cover the last element. Frames use FrameInput::row_bytes instead. Only bind() and record()
  // read them. Strides cost one dispatch, which copies to or from a dense buffer of Vellum. Empty: the
  // elements are dense.
  std::span<const VkDeviceSize> strides = {};
  // The queue family that owns the range before and after the inference: VK_QUEUE_FAMILY_EXTERNAL for memory
  // that is shared with another process (vellum/external.hpp), VK_QUEUE_FAMILY_FOREIGN_EXT for memory of
  // another driver. The recorded commands begin with an acquire from this family and end with a release to
  // it. VK_QUEUE_FAMILY_IGNORED: no ownership transfer.
  uint32_t owner = VK_QUEUE_FAMILY_IGNORED;
};

// An image of the application as an input or output instead of a buffer: one mip level and array layer of a
// 2D image with one sample.
//
// As an input it is a frame, for a model of with_frames(). It must have the size of FrameInput and the usage
// SAMPLED. Its format may be any that the device can sample as floats, its tiling any.
//
// Formats of one plane: red, green, blue and alpha are 255 times the sampled values (which are 0..1 in
// normalised formats). For FrameFormat::grey8 red is used for all three colours; alpha is read for rgba8 and
// bgra8. sRGB formats are sampled as linear values. For their bytes set the UNORM format here, which needs an
// image with the flag MUTABLE_FORMAT.
//
// Formats of several planes: VK_FORMAT_G8_B8R8_2PLANE_420_UNORM is for nv12 and nv21 (with V before U in the
// second plane), VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM for i420. They need the feature samplerYcbcrConversion.
// Y, U and V are read as stored, and converted by FrameInput::matrix and range.
//
// An 8-bit format of one plane gives bit for bit the results of the same bytes in a buffer. Formats of
// several planes do so if the driver samples a byte n as n / 255. SwiftShader samples up to 1 / 255 less, and
// its colours differ by at most 4 / 255.
//
// As an output the tensor must be [1, C, H, W] or [1, H, W, C] with one to four channels, [1, H, W] or [H,
// W], of floats, or of uint8, which is divided by 255. The channels become red, green, blue and alpha;
// missing colours are 0, missing alpha is 1. The image must have the usage STORAGE and the size W x H; every
// pixel is written. Formats: R8G8B8A8_UNORM, R16G16B16A16_SFLOAT, R32G32B32A32_SFLOAT and R32_SFLOAT. With
// the feature shaderStorageImageExtendedFormats also R8_UNORM, R8G8_UNORM, R16_SFLOAT and R16G16_SFLOAT; with
// shaderStorageImageWriteWithoutFormat also B8G8R8A8_UNORM. It costs one dispatch after the network, which
// copies from a buffer of Vellum.
struct ImageBinding {
  std::string_view name;  // of the input or output
  VkImage image = VK_NULL_HANDLE;
  // The format in which it is read or written. The image must allow views of this format.
  VkFormat format = VK_FORMAT_UNDEFINED;
  // ExternalImage::external_format(), for an imported image in an implementation-defined format. Then
  // `format` is VK_FORMAT_UNDEFINED, and the image is a frame in nv12, nv21 or i420.
  uint64_t external_format = 0;
  uint32_t width = 0, height = 0;  // of the mip level
  // The layout of the image while the recorded commands run, which do not change it. Inputs: GENERAL or
  // SHADER_READ_ONLY_OPTIMAL. Outputs: GENERAL.
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
  uint32_t mip_level = 0, array_layer = 0;
  uint32_t owner = VK_QUEUE_FAMILY_IGNORED;  // as BufferBinding::owner; both transfers keep `layout`
};

// The arguments of Session::record() and bind(). Lists each input once, and once each output that is to be
// read.
struct NetworkBindings {
  std::span<const BufferBinding> inputs = {}, outputs = {};
  std::span<const ImageBinding> input_images = {}, output_images = {};
  // False: every input must be listed. True: inputs that are not listed have the values of
  // Session::set_input(), and Session::output() returns outputs that are not listed after
  // Session::run(recording). Recording::record(), submit() and run() also use the values of set_input(), but
  // Session::output() does not return what they computed. They throw Error(invalid_argument) while an input
  // that is not listed has not been set.
  bool rest_on_host = false;
};

// A semaphore of the application that a submit waits for or signals.
struct SemaphoreValue {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  std::optional<uint64_t> value = {};  // of a timeline semaphore; empty: a binary semaphore
};

// The device begins after `wait` and signals `signal` when it is done.
struct SubmitSemaphores {
  std::span<const SemaphoreValue> wait = {}, signal = {};
};

class RecordedNetwork;

// An inference with the application's buffers and images as inputs and outputs, made by Session::record() or
// bind().
//
// Contract of the recorded commands. They are compute dispatches and pipeline barriers. They begin with a
// barrier for Vellum's own memory
//   COMPUTE_SHADER, SHADER_WRITE -> COMPUTE_SHADER, SHADER_READ | SHADER_WRITE
// and end without one. Other dependencies are the application's:
//   before: what wrote an input             -> COMPUTE_SHADER, SHADER_READ
//           what read or wrote an output    -> COMPUTE_SHADER, SHADER_READ | SHADER_WRITE
//   after:  COMPUTE_SHADER, SHADER_WRITE    -> what reads an output
//           COMPUTE_SHADER (no access)      -> what writes an input
// The application's barriers also transition images to ImageBinding::layout. If another queue family used a
// buffer or image of sharing mode EXCLUSIVE, the application transfers its ownership to the family of
// VulkanDevice::compute and back: it releases there and acquires here with the scope of "before", then the
// reverse with the scope of "after". Vellum's commands do neither, except for bindings with an `owner`, which
// they acquire and release with the same scopes. (VkPipelineStageFlagBits and VkAccessFlagBits without their
// prefixes. Outputs may be read and written several times within the inference.)
//
// The command buffer must be in the recording state, outside of a render pass, and of the queue family of
// VulkanDevice::compute. Afterwards the compute pipeline, descriptor set 0 and the push constants of the
// compute bind point are Vellum's. The command buffer may be submitted any number of times, one after another
// in one queue. All recordings of a session, its run() and its submit() use the same intermediate tensors. So
// commands of one must be done before those of another begin, unless both are recordings in the same queue.
// record() submits, maps and waits for nothing.
//
// A Recording must live as long as a command buffer that it was recorded to is pending or may be submitted
// again. It may outlive the session. Thread-safe for different command buffers.
class VELLUM_API Recording {
 public:
  Recording() = default;  // not valid()
  bool valid() const { return network_ != nullptr; }
  // Records the same inference into another command buffer, or into the same one after it was reset. Creates
  // no Vulkan objects. Throws Error(invalid_argument) for a null handle or a Recording that is not valid.
  void record(VkCommandBuffer commands) const;
  // Submits the same inference, in a command buffer of Vellum, to VulkanDevice::compute. The contract of
  // recorded commands holds; the semaphores make writes of one side visible to the other. The wait stage is
  // COMPUTE_SHADER. Returns at once: `signal` tells the application when the inference is done. Throws
  // Error(device_lost) or Error(out_of_memory), and Error(invalid_argument) for a Recording that is not valid
  // or a null handle.
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

// Memory and semaphores that are shared with other processes, with other interfaces (OpenGL, CUDA, V4L2) and
// with other parts of the system, through handles of the operating system.
//
//   // One process: memory for an input, handed out as a file descriptor.
//   auto input = vellum::ExternalBuffer::make(device, layout.bytes, layout.usage, Type::opaque_fd);
//   send_to_other_process(input.export_memory());  // its descriptor by SCM_RIGHTS
//
//   // The other: the same memory, bound as the input of a network.
//   auto input = vellum::ExternalBuffer::import(device, received, layout.bytes, layout.usage);
//   vellum::BufferBinding bound{"image", input.handle(), 0, input.bytes(), {}, VK_QUEUE_FAMILY_EXTERNAL};
//   vellum::Recording recording = session.bind({&bound, 1}, {&scores, 1});
//   recording.submit({.wait = {&written, 1}, .signal = {&done, 1}});
//
// Objects of this header are handles: copies share what they hold, which is freed with the last copy. That
// must not be before the device is done with it. All functions are thread-safe. docs/embedding.md explains
// them.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "vellum/export.h"
#include "vellum/vulkan.hpp"

namespace vellum {

class Device;

// Handles of VkExternalMemoryHandleTypeFlagBits and VkExternalSemaphoreHandleTypeFlagBits.
enum class ExternalHandleType : uint8_t {
  // A file descriptor of Vulkan's own, for memory or a semaphore: between devices of one deviceUUID and
  // driverUUID. Needs VK_KHR_external_memory_fd, VK_KHR_external_semaphore_fd.
  opaque_fd,
  dma_buf,  // a Linux dma-buf, memory: VK_EXT_external_memory_dma_buf
  sync_fd,  // a fence of Linux and Android as a file descriptor, a binary semaphore
  // An NT handle of Vulkan's own, as opaque_fd: VK_KHR_external_memory_win32,
  // VK_KHR_external_semaphore_win32.
  opaque_win32,
  host_pointer,             // memory of this process: VK_EXT_external_memory_host
  android_hardware_buffer,  // VK_ANDROID_external_memory_android_hardware_buffer
};

// "opaque_fd"
VELLUM_API std::string_view name(ExternalHandleType type);

// The operations that a device supports with handles of one type.
struct ExternalSupport {
  ExternalHandleType type{};
  bool imports_buffers = false, exports_buffers = false;  // that networks read and write
  bool imports_semaphores = false, exports_semaphores = false;
  bool imports_timelines = false, exports_timelines = false;  // timeline semaphores
};

// Lists the types that the device can do something with: of those whose extensions are enabled. Images are
// not listed, because their support depends on the format.
VELLUM_API std::vector<ExternalSupport> external_support(const Device& device);

// A handle of memory.
//
// Who owns a handle is as in Vulkan's specification:
//   import  opaque_fd, dma_buf       the file descriptor becomes the driver's if the import succeeds: do not
//                                    use or close it. If it fails the descriptor stays the caller's.
//           opaque_win32             the handle stays the caller's, who closes it with CloseHandle
//           host_pointer             the memory stays the caller's, and must outlive what was imported
//           android_hardware_buffer  what is imported has a reference of its own
//   export  the handle is the caller's, who closes it, or gives it to an import
struct ExternalMemory {
  ExternalHandleType type = ExternalHandleType::opaque_fd;
  int fd = -1;  // opaque_fd, dma_buf
  // opaque_win32: the HANDLE; host_pointer: the first byte; android_hardware_buffer: the AHardwareBuffer*.
  void* handle = nullptr;
  // The size of the memory: for opaque handles VkMemoryAllocateInfo::allocationSize of the exporter; for
  // host_pointer a multiple of minImportedHostPointerAlignment, as the pointer is. For
  // android_hardware_buffer it is not read.
  VkDeviceSize bytes = 0;
  // For opaque handles: VkMemoryAllocateInfo::memoryTypeIndex of the exporter, and whether it allocated the
  // memory for one buffer or image alone (VkMemoryDedicatedAllocateInfo).
  uint32_t memory_type = 0;
  bool dedicated = false;
};

// A buffer of the device whose memory is shared. It is of the sharing mode EXCLUSIVE.
class VELLUM_API ExternalBuffer {
 public:
  ExternalBuffer() = default;  // not valid()
  // Makes a buffer of `bytes` at `offset` of imported memory. usage: BufferLayout::usage for an input or
  // output. Throws Error(unsupported), naming the extension or the type of handle, where the device cannot
  // import it, and Error(invalid_argument) for a handle that is not one, or memory that does not suit the
  // buffer in size, alignment or memory type.
  static ExternalBuffer import(const Device& device, const ExternalMemory& memory, VkDeviceSize bytes,
                               VkBufferUsageFlags usage, VkDeviceSize offset = 0);
  // Makes a buffer with memory that can be exported as this type, device-local where possible. Throws
  // Error(unsupported) as import(), Error(out_of_memory).
  static ExternalBuffer make(const Device& device, VkDeviceSize bytes, VkBufferUsageFlags usage,
                             ExternalHandleType type);
  bool valid() const { return impl_ != nullptr; }
  // These throw Error(invalid_argument) for a buffer that is not valid().
  VkBuffer handle() const;
  VkDeviceSize bytes() const;
  // The buffer's bytes in this process: of host_pointer, and of memory with file descriptors that is
  // host-visible and coherent. Null otherwise.
  std::byte* data() const;
  // Returns a new handle of the whole memory. Throws Error(unsupported) for memory that was imported.
  ExternalMemory export_memory() const;

  struct Impl;

 private:
  explicit ExternalBuffer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

// An image of the device whose memory is shared: for an ImageBinding.
class VELLUM_API ExternalImage {
 public:
  ExternalImage() = default;  // not valid()
  // Makes an image in imported memory, from offset 0 on. For opaque handles `info` is that of the exporter;
  // for dma-bufs it may chain the modifier of the format. For android_hardware_buffer give width, height and
  // usage: the format is taken from the buffer where it is VK_FORMAT_UNDEFINED. Buffers in a format of the
  // driver's own have an external_format() instead; of these the ones with Y, U and V are imported, for
  // frames. Throws as ExternalBuffer::import().
  static ExternalImage import(const Device& device, const ExternalMemory& memory, VkImageCreateInfo info);
  // Makes an image with memory that can be exported as this type.
  static ExternalImage make(const Device& device, VkImageCreateInfo info, ExternalHandleType type);
  bool valid() const { return impl_ != nullptr; }
  // These throw Error(invalid_argument) for an image that is not valid().
  VkImage handle() const;
  VkFormat format() const;
  // VkExternalFormatANDROID::externalFormat; 0 if the image has a format of Vulkan's.
  uint64_t external_format() const;
  ExternalMemory export_memory() const;  // as ExternalBuffer::export_memory()

  struct Impl;

 private:
  explicit ExternalImage(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

class Session;

// Frames in hardware buffers of Android, such as those of a camera, as an input of a session: the device
// reads them where they are.
//
//   vellum::HardwareFrames frames(session, "image");      // of a model of with_frames()
//   session.set_input("image.transform", map.tensor());
//   frames.run(buffer, 1280, 720);                        // an AHardwareBuffer*
//   vellum::Tensor scores = session.output("scores");
//
// A buffer is imported when it comes for the first time. The `most` buffers that came last stay imported, for
// a camera has a few that it fills in turn; each import holds a reference to its buffer. The session must
// outlive this and must not be moved. For one thread at a time, as the session.
class VELLUM_API HardwareFrames {
 public:
  // Throws Error(unsupported), naming the extension, where the device imports no hardware buffers, and
  // Error(not_found) for an unknown input.
  HardwareFrames(Session& session, std::string_view input, size_t most = 8);
  ~HardwareFrames();
  HardwareFrames(HardwareFrames&&) noexcept;
  HardwareFrames& operator=(HardwareFrames&&) noexcept;

  // Runs one inference on the frame in `buffer`, an AHardwareBuffer* of this size, and returns when it is
  // done: then the buffer may be given back to its producer. All other inputs have the values of
  // Session::set_input(); Session::output() has the outputs. The producer must be done, which means that its
  // fence has signalled. Throws the errors of ExternalImage::import(), Session::bind() and Session::run().
  void run(void* buffer, uint32_t width, uint32_t height);
  size_t imported() const;  // buffers
  void forget();            // gives all imports up, and what Session::trim() could not free because of them

 private:
  struct Impl;
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

// A handle of a semaphore. Who owns it is as for ExternalMemory: an imported file descriptor becomes the
// driver's if the import succeeds, an imported HANDLE stays the caller's, an exported one is the caller's.
struct ExternalSemaphoreHandle {
  ExternalHandleType type = ExternalHandleType::opaque_fd;  // or sync_fd, opaque_win32
  int fd = -1;               // opaque_fd; sync_fd, for which -1 is a fence that is signalled
  void* handle = nullptr;    // opaque_win32
  bool is_timeline = false;  // of opaque handles: as it was made
};

// A semaphore of the device that is shared: for SubmitSemaphores.
class VELLUM_API ExternalSemaphore {
 public:
  ExternalSemaphore() = default;  // not valid()
  // Makes a semaphore with an imported payload; that of a sync_fd is gone after one wait. Throws
  // Error(unsupported), naming the extension or the type of handle, where the device cannot import it, and
  // Error(invalid_argument) for a handle that is not one.
  static ExternalSemaphore import(const Device& device, const ExternalSemaphoreHandle& semaphore);
  // Makes a semaphore that can be exported as this type, binary or a timeline from 0. Timelines need the
  // feature timelineSemaphore, which an application enables on its device. Throws as import().
  static ExternalSemaphore make(const Device& device, ExternalHandleType type, bool is_timeline = false);
  bool valid() const { return impl_ != nullptr; }
  // These throw Error(invalid_argument) for a semaphore that is not valid().
  VkSemaphore handle() const;
  // Returns a new handle. For a sync_fd a submit that signals the semaphore must be pending or done; it then
  // counts as waited for. Throws Error(unsupported) for a semaphore that was imported.
  ExternalSemaphoreHandle export_handle() const;

  struct Impl;

 private:
  explicit ExternalSemaphore(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vellum

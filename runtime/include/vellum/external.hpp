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
// Objects of this header are handles: copies share one resource, which is freed with the last copy. Keep a
// copy until the device is done with the resource. All functions are thread-safe. docs/embedding.md explains
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
  // An opaque file descriptor for memory or a semaphore, shared between devices of the same deviceUUID and
  // driverUUID. Needs VK_KHR_external_memory_fd or VK_KHR_external_semaphore_fd.
  opaque_fd,
  dma_buf,  // memory: a Linux dma-buf. Needs VK_EXT_external_memory_dma_buf
  sync_fd,  // binary semaphore: a Linux or Android fence as a file descriptor
  // An NT handle, otherwise as opaque_fd. Needs VK_KHR_external_memory_win32 or
  // VK_KHR_external_semaphore_win32.
  opaque_win32,
  host_pointer,             // memory of this process. Needs VK_EXT_external_memory_host
  android_hardware_buffer,  // needs VK_ANDROID_external_memory_android_hardware_buffer
};

// Returns the name of a type: "opaque_fd".
VELLUM_API std::string_view name(ExternalHandleType type);

// The operations that a device supports with handles of one type.
struct ExternalSupport {
  ExternalHandleType type{};
  bool imports_buffers = false, exports_buffers = false;  // buffers that networks read and write
  bool imports_semaphores = false, exports_semaphores = false;
  bool imports_timelines = false, exports_timelines = false;  // timeline semaphores
};

// Lists the types of handles with which the device supports at least one operation; their extensions are
// enabled. Images are not covered, because their support depends on the format.
VELLUM_API std::vector<ExternalSupport> external_support(const Device& device);

// A handle of memory.
//
// Handles are owned as Vulkan's specification says:
//   import  opaque_fd, dma_buf       the file descriptor becomes the driver's if the import succeeds: do not
//                                    use or close it. If it fails the descriptor stays the caller's.
//           opaque_win32             the handle stays the caller's, who closes it with CloseHandle
//           host_pointer             the memory stays the caller's, and must outlive the imported object
//           android_hardware_buffer  the import holds a reference of its own
//   export  the handle is the caller's, who closes it, or gives it to an import
struct ExternalMemory {
  ExternalHandleType type = ExternalHandleType::opaque_fd;
  int fd = -1;  // opaque_fd, dma_buf
  // opaque_win32: the HANDLE; host_pointer: the first byte; android_hardware_buffer: the AHardwareBuffer*.
  void* handle = nullptr;
  // The size of the memory. Opaque handles: VkMemoryAllocateInfo::allocationSize of the exporter.
  // host_pointer: size and pointer are multiples of minImportedHostPointerAlignment. android_hardware_buffer:
  // not read.
  VkDeviceSize bytes = 0;
  // For opaque handles: VkMemoryAllocateInfo::memoryTypeIndex of the exporter, and whether it is a dedicated
  // allocation (VkMemoryDedicatedAllocateInfo).
  uint32_t memory_type = 0;
  bool dedicated = false;
};

// A buffer with shared memory, of sharing mode VK_SHARING_MODE_EXCLUSIVE.
class VELLUM_API ExternalBuffer {
 public:
  ExternalBuffer() = default;  // not valid()
  // Makes a buffer of `bytes` at `offset` of imported memory. usage: BufferLayout::usage for an input or
  // output. Throws Error(unsupported), which names the missing extension or the type of handle, if the device
  // cannot import it. Throws Error(invalid_argument) for an invalid handle, and for memory whose size,
  // alignment or memory type does not suit the buffer.
  static ExternalBuffer import(const Device& device, const ExternalMemory& memory, VkDeviceSize bytes,
                               VkBufferUsageFlags usage, VkDeviceSize offset = 0);
  // Makes a buffer with memory that can be exported as this type, device-local where possible. Throws
  // Error(unsupported) as import() does, and Error(out_of_memory).
  static ExternalBuffer make(const Device& device, VkDeviceSize bytes, VkBufferUsageFlags usage,
                             ExternalHandleType type);
  bool valid() const { return impl_ != nullptr; }
  // These throw Error(invalid_argument) for a buffer that is not valid().
  VkBuffer handle() const;
  VkDeviceSize bytes() const;
  // Returns the buffer's bytes mapped into this process: for host_pointer, and for memory of file descriptors
  // that is host-visible and coherent. Null otherwise.
  std::byte* data() const;
  // Returns a new handle of the whole memory. Throws Error(unsupported) for memory that was imported.
  ExternalMemory export_memory() const;

  struct Impl;

 private:
  explicit ExternalBuffer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

// An image with shared memory, for ImageBinding.
class VELLUM_API ExternalImage {
 public:
  ExternalImage() = default;  // not valid()
  // Makes an image at offset 0 of imported memory. Opaque handles: `info` is the exporter's. dma-bufs: `info`
  // may chain the DRM format modifier. android_hardware_buffer: set width, height and usage; if the format is
  // VK_FORMAT_UNDEFINED it is taken from the buffer. A buffer in an implementation-defined format has an
  // external_format() instead; only those with Y, U and V can be imported, for frames. Throws the errors of
  // ExternalBuffer::import().
  static ExternalImage import(const Device& device, const ExternalMemory& memory, VkImageCreateInfo info);
  // Makes an image with memory that can be exported as this type.
  static ExternalImage make(const Device& device, VkImageCreateInfo info, ExternalHandleType type);
  bool valid() const { return impl_ != nullptr; }
  // These throw Error(invalid_argument) for an image that is not valid().
  VkImage handle() const;
  VkFormat format() const;
  // VkExternalFormatANDROID::externalFormat; 0 if the image has a VkFormat.
  uint64_t external_format() const;
  ExternalMemory export_memory() const;  // as ExternalBuffer::export_memory()

  struct Impl;

 private:
  explicit ExternalImage(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

class Session;

// Android hardware buffers, such as camera frames, as an input of a session. The device reads them without a
// copy.
//
//   vellum::HardwareFrames frames(session, "image");      // of a model of with_frames()
//   session.set_input("image.transform", map.tensor());
//   frames.run(buffer, 1280, 720);                        // an AHardwareBuffer*
//   vellum::Tensor scores = session.output("scores");
//
// A buffer is imported at its first use. The `most` buffers that were used last stay imported, because a
// camera fills a few buffers in turn; each import holds a reference to its buffer. The session must outlive
// this object and must not be moved. One thread at a time, as for the session.
class VELLUM_API HardwareFrames {
 public:
  // Throws Error(unsupported), which names the extension, if the device cannot import hardware buffers, and
  // Error(not_found) for an unknown input.
  HardwareFrames(Session& session, std::string_view input, size_t most = 8);
  ~HardwareFrames();
  HardwareFrames(HardwareFrames&&) noexcept;
  HardwareFrames& operator=(HardwareFrames&&) noexcept;

  // Runs one inference on the frame in `buffer`, an AHardwareBuffer* of this size, and returns when it is
  // done; the buffer may then go back to its producer. The producer must have finished writing: its fence has
  // signalled. All other inputs have the values of Session::set_input(), and Session::output() returns the
  // outputs. Throws the errors of ExternalImage::import(), Session::bind() and Session::run().
  void run(void* buffer, uint32_t width, uint32_t height);
  size_t imported() const;  // number of buffers that are imported
  void forget();            // frees all imports, and memory that Session::trim() had to keep for them

 private:
  struct Impl;
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

// A handle of a semaphore. Ownership is as for ExternalMemory: an imported file descriptor becomes the
// driver's if the import succeeds, an imported HANDLE stays the caller's, an exported handle is the caller's.
struct ExternalSemaphoreHandle {
  ExternalHandleType type = ExternalHandleType::opaque_fd;  // or sync_fd, opaque_win32
  int fd = -1;               // for opaque_fd and sync_fd; a sync_fd of -1 is a fence that has signalled
  void* handle = nullptr;    // opaque_win32
  bool is_timeline = false;  // for opaque handles: whether the exporter made a timeline semaphore
};

// A shared semaphore, for SubmitSemaphores.
class VELLUM_API ExternalSemaphore {
 public:
  ExternalSemaphore() = default;  // not valid()
  // Makes a semaphore with an imported payload. The payload of a sync_fd is consumed by one wait. Throws
  // Error(unsupported), which names the missing extension or the type of handle, if the device cannot import
  // it, and Error(invalid_argument) for an invalid handle.
  static ExternalSemaphore import(const Device& device, const ExternalSemaphoreHandle& semaphore);
  // Makes a semaphore that can be exported as this type: a binary semaphore, or a timeline semaphore of value
  // 0. Timeline semaphores need the feature timelineSemaphore, which on an adopted device the application
  // must enable. Throws the errors of import().
  static ExternalSemaphore make(const Device& device, ExternalHandleType type, bool is_timeline = false);
  bool valid() const { return impl_ != nullptr; }
  // These throw Error(invalid_argument) for a semaphore that is not valid().
  VkSemaphore handle() const;
  // Returns a new handle. For a sync_fd a submit that signals the semaphore must be pending or done, and the
  // export counts as a wait. Throws Error(unsupported) for a semaphore that was imported.
  ExternalSemaphoreHandle export_handle() const;

  struct Impl;

 private:
  explicit ExternalSemaphore(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& checked() const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vellum

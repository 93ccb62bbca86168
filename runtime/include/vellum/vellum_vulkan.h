/*
 * Vellum inside an application that has its own Vulkan device: the C interface of vellum/vulkan.hpp, which has the
 * contract of recorded commands. vellum_external.h shares memory with other processes. docs/embedding.md explains both.
 *
 *   vellum_vulkan_requirements_create(&physical, &wants, &error);
 *   device_info.pNext = vellum_vulkan_requirements_enable_features(wants, (void*)device_info.pNext);
 *   ... vkCreateDevice(...)
 *   vellum_vulkan_device mine;
 *   vellum_vulkan_device_init(&mine);
 *   mine.physical = physical, mine.device = vk_device, mine.compute.queue = queue, mine.compute.family = family;
 *   mine.extensions = extensions, mine.extension_count = extension_count, mine.features = device_info.pNext;
 *   vellum_device_adopt(&mine, NULL, &device, &error);
 *   ... vellum_session_create(device, ...)
 *   vellum_session_bind(session, &image, 1, &scores, 1, &recording, &error);
 *   vellum_recording_record(recording, commands, &error);
 */
#ifndef VELLUM_VULKAN_H
#define VELLUM_VULKAN_H

#include <vulkan/vulkan_core.h>

#include "vellum/vellum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The application's device ----------------------------------------------------------------------------------- */

typedef struct vellum_vulkan_physical_device {
  PFN_vkGetInstanceProcAddr get_instance_proc_addr;
  VkInstance instance;
  uint32_t api_version; /* VkApplicationInfo.apiVersion of the instance; Vulkan 1.1 or later */
  VkPhysicalDevice physical_device;
} vellum_vulkan_physical_device;

/* The extensions, features and queue families that Vellum uses of a physical device. */
typedef struct vellum_vulkan_requirements vellum_vulkan_requirements;

/* A group of extensions and features beyond Vulkan 1.1 that Vellum uses for one purpose. Valid as long as the requirements. */
typedef struct vellum_vulkan_use {
  size_t size;                   /* of this struct, as the caller was compiled; set by the caller */
  const char* purpose;           /* "arithmetic in halves" */
  int32_t required;              /* not 0: vellum_device_adopt() refuses a device without it */
  const char* const* extensions; /* as for VkDeviceCreateInfo */
  size_t extension_count;
  const char* const* features; /* members of Vulkan's structures: "shaderFloat16" */
  size_t feature_count;
} vellum_vulkan_use;

VELLUM_C_API vellum_status vellum_vulkan_requirements_create(const vellum_vulkan_physical_device* device,
                                                             vellum_vulkan_requirements** requirements,
                                                             vellum_error* error);
VELLUM_C_API void vellum_vulkan_requirements_destroy(vellum_vulkan_requirements* requirements);
VELLUM_C_API size_t vellum_vulkan_requirements_use_count(const vellum_vulkan_requirements* requirements);
/* VELLUM_INVALID_ARGUMENT if `index` is out of range. */
VELLUM_C_API vellum_status vellum_vulkan_requirements_use(const vellum_vulkan_requirements* requirements, size_t index,
                                                          vellum_vulkan_use* use, vellum_error* error);
/* Returns the extensions of all uses, each once, and their number in `*count`. */
VELLUM_C_API const char* const* vellum_vulkan_requirements_extensions(const vellum_vulkan_requirements* requirements,
                                                                      size_t* count);
/* Enables the features of all uses in `chain`, a chain for VkDeviceCreateInfo.pNext that may be NULL, and returns its new
 * head, or NULL if the host is out of memory. Structures that it adds live as long as the requirements. */
VELLUM_C_API void* vellum_vulkan_requirements_enable_features(const vellum_vulkan_requirements* requirements, void* chain);
/* The queue family that Vellum would choose for compute. */
VELLUM_C_API uint32_t vellum_vulkan_requirements_compute_family(const vellum_vulkan_requirements* requirements);
/* The queue family that Vellum would choose for copies; VK_QUEUE_FAMILY_IGNORED if no family only copies. */
VELLUM_C_API uint32_t vellum_vulkan_requirements_transfer_family(const vellum_vulkan_requirements* requirements);

typedef struct vellum_vulkan_queue {
  VkQueue queue;
  uint32_t family;
  /* Called around each use of the queue, from any thread; NULL: only Vellum uses it. */
  void (*lock)(void* user);
  void (*unlock)(void* user);
  void* user; /* passed to both */
} vellum_vulkan_queue;

/* A suballocation from the application's allocator: DeviceMemory in vellum/vulkan.hpp. */
typedef struct vellum_device_memory {
  VkDeviceMemory memory; /* VK_NULL_HANDLE: out of memory */
  VkDeviceSize offset;   /* of the first byte in `memory` */
  void* mapped;          /* address of the first byte on the host, for a host-visible type */
} vellum_device_memory;

/* Fill it with vellum_vulkan_device_init(), then set the handles. Only vellum_device_adopt() reads it. */
typedef struct vellum_vulkan_device {
  size_t size; /* of this struct, as the caller was compiled */
  vellum_vulkan_physical_device physical;
  VkDevice device;
  vellum_vulkan_queue compute;
  const vellum_vulkan_queue* transfer; /* for copies in parallel with compute work; NULL: copies use the compute queue */
  /* As in VkDeviceCreateInfo: the enabled extensions, and the chain of pNext with the enabled features. */
  const char* const* extensions;
  size_t extension_count;
  const void* features;
  const VkAllocationCallbacks* allocation_callbacks; /* for every object that Vellum creates; NULL: Vulkan's own */
  /* The application's allocator for all device memory: DeviceMemoryCallbacks in vellum/vulkan.hpp. Called from any thread.
   * Set both or neither. */
  vellum_device_memory (*allocate_memory)(void* user, VkDeviceSize bytes, uint32_t memory_type, VkDeviceSize alignment);
  void (*free_memory)(void* user, const vellum_device_memory* memory);
  void* memory_user; /* passed to both */
} vellum_vulkan_device;

VELLUM_C_API void vellum_vulkan_device_init_sized(vellum_vulkan_device* device, size_t size);
VELLUM_C_API void vellum_vulkan_device_init(vellum_vulkan_device* device);
#define vellum_vulkan_device_init(device) vellum_vulkan_device_init_sized((device), sizeof(vellum_vulkan_device))

/* Uses the application's device instead of opening one; see Device::adopt(). `options` may be NULL. */
VELLUM_C_API vellum_status vellum_device_adopt(const vellum_vulkan_device* device, const vellum_device_options* options,
                                               vellum_device** adopted, vellum_error* error);

/* ---- The application's buffers and command buffers -------------------------------------------------------------- */

/* How a buffer for an input or output must be made. */
typedef struct vellum_buffer_layout {
  size_t size;          /* of this struct, as the caller was compiled; set by the caller */
  vellum_dtype element; /* VELLUM_F32 for floats, VELLUM_I32 for integers and booleans, VELLUM_U8 for frames; dense */
  VkDeviceSize bytes;   /* of the elements, rounded up to a multiple of four */
  VkDeviceSize alignment;
  VkBufferUsageFlags usage;
} vellum_buffer_layout;

VELLUM_C_API vellum_status vellum_session_input_buffer(const vellum_session* session, const char* name,
                                                       vellum_buffer_layout* layout, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_output_buffer(const vellum_session* session, const char* name,
                                                        vellum_buffer_layout* layout, vellum_error* error);

/* A range of the application's buffer for an input or output. */
typedef struct vellum_buffer_binding {
  const char* name;
  VkBuffer buffer;
  VkDeviceSize offset;
  VkDeviceSize bytes; /* size of the range at `offset`: vellum_buffer_layout.bytes or more */
} vellum_buffer_binding;

/* A buffer or an image for an input or output: BufferBinding and ImageBinding in vellum/vulkan.hpp, which document what
 * may be bound. Fill it with vellum_binding_init(), then set the members for the buffer or for the image. */
typedef struct vellum_binding {
  size_t size; /* of this struct, as the caller was compiled */
  const char* name;
  VkBuffer buffer;
  VkDeviceSize offset;
  VkDeviceSize bytes;
  const VkDeviceSize* strides; /* bytes, one for each dimension; NULL: the elements are dense */
  size_t stride_count;
  VkImage image;   /* in place of a buffer */
  VkFormat format; /* this and the next five members describe the image */
  uint32_t width;
  uint32_t height;
  VkImageLayout layout;
  uint32_t mip_level;
  uint32_t array_layer;
  uint32_t owner; /* the queue family that owns it before and after the run; VK_QUEUE_FAMILY_IGNORED: no ownership transfer */
  uint64_t external_format; /* for an image without a `format`: vellum_external_image_external_format() */
} vellum_binding;

VELLUM_C_API void vellum_binding_init_sized(vellum_binding* binding, size_t size);
VELLUM_C_API void vellum_binding_init(vellum_binding* binding);
#define vellum_binding_init(binding) vellum_binding_init_sized((binding), sizeof(vellum_binding))

/* A semaphore of the application that a submit waits for or signals. */
typedef struct vellum_semaphore {
  VkSemaphore semaphore;
  int32_t is_timeline; /* 0: a binary semaphore, without a value */
  uint64_t value;
} vellum_semaphore;

/* An inference with the application's buffers. It may outlive its session. */
typedef struct vellum_recording vellum_recording;

/* Binds every input, and the outputs that are to be read. */
VELLUM_C_API vellum_status vellum_session_bind(vellum_session* session, const vellum_buffer_binding* inputs,
                                               size_t input_count, const vellum_buffer_binding* outputs,
                                               size_t output_count, vellum_recording** recording, vellum_error* error);
/* Binds buffers and images, with strides and owners. All bindings of an array must have the same `size`. */
VELLUM_C_API vellum_status vellum_session_bind_all(vellum_session* session, const vellum_binding* inputs,
                                                   size_t input_count, const vellum_binding* outputs,
                                                   size_t output_count, vellum_recording** recording,
                                                   vellum_error* error);
/* Records the inference into a command buffer of the application. May be called any number of times. */
VELLUM_C_API vellum_status vellum_recording_record(const vellum_recording* recording, VkCommandBuffer commands,
                                                   vellum_error* error);
/* Submits the inference, recorded in Vellum's own command buffer, to the compute queue, and returns at once. */
VELLUM_C_API vellum_status vellum_recording_submit(const vellum_recording* recording, const vellum_semaphore* wait,
                                                   size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                                   vellum_error* error);
/* Submits the inference in the same way, and waits until it is done. */
VELLUM_C_API vellum_status vellum_recording_run(const vellum_recording* recording, const vellum_semaphore* wait,
                                                size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                                vellum_error* error);
/*
 * Begins an inference as vellum_session_submit() does, ordered with other work of the application's device: the run's
 * work on the device begins after `wait` and signals `signal` at its end; see Session::submit() in vellum/session.hpp.
 */
VELLUM_C_API vellum_status vellum_session_submit_after(vellum_session* session, const vellum_input_values* inputs,
                                                       size_t input_count, const vellum_output_values* outputs,
                                                       size_t output_count, const vellum_semaphore* wait,
                                                       size_t wait_count, const vellum_semaphore* signal,
                                                       size_t signal_count, vellum_run** run, vellum_error* error);
/* Command buffers with the recording must not be pending, and must not be submitted again. */
VELLUM_C_API void vellum_recording_destroy(vellum_recording* recording);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_VULKAN_H */

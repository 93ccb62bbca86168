/*
 * Vellum in C inside an application that has a Vulkan device of its own; vellum_external.h beside it shares memory. The
 * same as vellum/vulkan.hpp, which has the contract of recorded commands; docs/embedding.md explains it.
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

/* What Vellum would use of a physical device. */
typedef struct vellum_vulkan_requirements vellum_vulkan_requirements;

/* One thing that Vellum uses of a device beyond Vulkan 1.1. Valid as long as the requirements. */
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
/* The extensions of all uses, without repetition, and in `*count` how many they are. */
VELLUM_C_API const char* const* vellum_vulkan_requirements_extensions(const vellum_vulkan_requirements* requirements,
                                                                      size_t* count);
/* Switches on the features of all uses in a chain for VkDeviceCreateInfo.pNext, which may be NULL; returns its new head.
 * Structures that it adds live as long as the requirements. NULL if the host is out of memory. */
VELLUM_C_API void* vellum_vulkan_requirements_enable_features(const vellum_vulkan_requirements* requirements, void* chain);
/* The queue family that Vellum would compute with. */
VELLUM_C_API uint32_t vellum_vulkan_requirements_compute_family(const vellum_vulkan_requirements* requirements);
/* The one that it would copy with; VK_QUEUE_FAMILY_IGNORED: there is none that only copies. */
VELLUM_C_API uint32_t vellum_vulkan_requirements_transfer_family(const vellum_vulkan_requirements* requirements);

typedef struct vellum_vulkan_queue {
  VkQueue queue;
  uint32_t family;
  /* Called around each use of the queue, from any thread; NULL: only Vellum uses it. */
  void (*lock)(void* user);
  void (*unlock)(void* user);
  void* user; /* passed to both */
} vellum_vulkan_queue;

/* Memory of the application's: DeviceMemory in vellum/vulkan.hpp. */
typedef struct vellum_device_memory {
  VkDeviceMemory memory; /* VK_NULL_HANDLE: there is none left */
  VkDeviceSize offset;   /* in `memory`, of the first byte */
  void* mapped;          /* the first byte in the host's memory, for a host-visible type */
} vellum_device_memory;

/* Fill it with vellum_vulkan_device_init(), then set what there is. Read by vellum_device_adopt() alone. */
typedef struct vellum_vulkan_device {
  size_t size; /* of this struct, as the caller was compiled */
  vellum_vulkan_physical_device physical;
  VkDevice device;
  vellum_vulkan_queue compute;
  const vellum_vulkan_queue* transfer; /* for copies beside compute work; NULL: they use the compute queue */
  /* As in VkDeviceCreateInfo: the enabled extensions, and the chain of pNext with the enabled features. */
  const char* const* extensions;
  size_t extension_count;
  const void* features;
  const VkAllocationCallbacks* allocation_callbacks; /* for every object that Vellum makes; NULL: Vulkan's own */
  /* The application's allocator for all device memory: DeviceMemoryCallbacks in vellum/vulkan.hpp. Called from any thread;
   * set both, or none. */
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
  vellum_dtype element; /* VELLUM_F32, VELLUM_I32 for integers and booleans, VELLUM_U8 for frames; dense */
  VkDeviceSize bytes;   /* the elements, padded to four */
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
  VkDeviceSize bytes; /* from `offset` on, at least vellum_buffer_layout.bytes */
} vellum_buffer_binding;

/* A buffer or an image for an input or output: BufferBinding and ImageBinding in vellum/vulkan.hpp, which say what may be
 * bound. Fill it with vellum_binding_init(), then set what there is. */
typedef struct vellum_binding {
  size_t size; /* of this struct, as the caller was compiled */
  const char* name;
  VkBuffer buffer;
  VkDeviceSize offset;
  VkDeviceSize bytes;
  const VkDeviceSize* strides; /* bytes, one for each dimension; NULL: the elements are dense */
  size_t stride_count;
  VkImage image;   /* in place of a buffer */
  VkFormat format; /* of the image, as all that follows but `owner` */
  uint32_t width;
  uint32_t height;
  VkImageLayout layout;
  uint32_t mip_level;
  uint32_t array_layer;
  uint32_t owner; /* the queue family that owns it before and afterwards; VK_QUEUE_FAMILY_IGNORED: no transfer */
  uint64_t external_format; /* of an image without a `format`: vellum_external_image_external_format() */
} vellum_binding;

VELLUM_C_API void vellum_binding_init_sized(vellum_binding* binding, size_t size);
VELLUM_C_API void vellum_binding_init(vellum_binding* binding);
#define vellum_binding_init(binding) vellum_binding_init_sized((binding), sizeof(vellum_binding))

/* A semaphore of the application's in a submit. */
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
/* Does the same with images, strides and owners. All bindings of an array have one size. */
VELLUM_C_API vellum_status vellum_session_bind_all(vellum_session* session, const vellum_binding* inputs,
                                                   size_t input_count, const vellum_binding* outputs,
                                                   size_t output_count, vellum_recording** recording,
                                                   vellum_error* error);
/* Records the inference into a command buffer of the application's, any number of times. */
VELLUM_C_API vellum_status vellum_recording_record(const vellum_recording* recording, VkCommandBuffer commands,
                                                   vellum_error* error);
/* Submits the inference from a command buffer of Vellum's to the compute queue, and returns at once. */
VELLUM_C_API vellum_status vellum_recording_submit(const vellum_recording* recording, const vellum_semaphore* wait,
                                                   size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                                   vellum_error* error);
/* Submits it in the same way, and waits until it is done. */
VELLUM_C_API vellum_status vellum_recording_run(const vellum_recording* recording, const vellum_semaphore* wait,
                                                size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                                vellum_error* error);
/*
 * Does the same as vellum_session_submit(), in an order with other work of the application's device: what the
 * run does on the device begins after `wait`, and its end signals `signal`; see Session::submit() in
 * vellum/session.hpp.
 */
VELLUM_C_API vellum_status vellum_session_submit_after(vellum_session* session, const vellum_input_values* inputs,
                                                       size_t input_count, const vellum_output_values* outputs,
                                                       size_t output_count, const vellum_semaphore* wait,
                                                       size_t wait_count, const vellum_semaphore* signal,
                                                       size_t signal_count, vellum_run** run, vellum_error* error);
/* No command buffer that it was recorded to may be pending or submitted again. */
VELLUM_C_API void vellum_recording_destroy(vellum_recording* recording);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_VULKAN_H */

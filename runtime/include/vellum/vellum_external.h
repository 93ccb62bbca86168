/*
 * Memory and semaphores that are shared with other processes and interfaces: the C interface of vellum/external.hpp,
 * which documents the types of handles and their ownership. In short: an imported file descriptor becomes the driver's
 * if the import succeeds, and stays the caller's if it fails. Every other imported handle, and every exported handle,
 * is the caller's.
 */
#ifndef VELLUM_EXTERNAL_H
#define VELLUM_EXTERNAL_H

#include <vulkan/vulkan_core.h>

#include "vellum/vellum.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vellum_external_type {
  VELLUM_OPAQUE_FD = 0,
  VELLUM_DMA_BUF = 1,
  VELLUM_SYNC_FD = 2,
  VELLUM_OPAQUE_WIN32 = 3,
  VELLUM_HOST_POINTER = 4,
  VELLUM_ANDROID_HARDWARE_BUFFER = 5
} vellum_external_type;

/* The operations that a device supports with handles of one type; not 0: supported. */
typedef struct vellum_external_support {
  size_t size; /* of this struct, as the caller was compiled; set by the caller */
  int32_t imports_buffers;
  int32_t exports_buffers;
  int32_t imports_semaphores;
  int32_t exports_semaphores;
  int32_t imports_timelines;
  int32_t exports_timelines;
} vellum_external_support;

VELLUM_C_API vellum_status vellum_device_external_support(const vellum_device* device, vellum_external_type type,
                                                          vellum_external_support* support, vellum_error* error);

/* A handle of memory. Fill it with vellum_external_memory_init(), then set what there is. */
typedef struct vellum_external_memory {
  size_t size; /* of this struct, as the caller was compiled */
  vellum_external_type type;
  int32_t fd;           /* VELLUM_OPAQUE_FD, VELLUM_DMA_BUF; -1: none */
  void* handle;         /* a HANDLE, a pointer to memory, or an AHardwareBuffer* */
  VkDeviceSize bytes;   /* of the whole memory */
  uint32_t memory_type; /* for opaque handles: the exporter's memory type index */
  int32_t dedicated;    /* for opaque handles; not 0: the exporter's allocation is dedicated */
} vellum_external_memory;

VELLUM_C_API void vellum_external_memory_init_sized(vellum_external_memory* memory, size_t size);
VELLUM_C_API void vellum_external_memory_init(vellum_external_memory* memory);
#define vellum_external_memory_init(memory) vellum_external_memory_init_sized((memory), sizeof(vellum_external_memory))

typedef struct vellum_external_buffer vellum_external_buffer;

/* Makes a buffer of `bytes` at `offset` of imported memory. */
VELLUM_C_API vellum_status vellum_external_buffer_import(const vellum_device* device, const vellum_external_memory* memory,
                                                         VkDeviceSize bytes, VkBufferUsageFlags usage, VkDeviceSize offset,
                                                         vellum_external_buffer** buffer, vellum_error* error);
/* Makes a buffer with memory that can be exported. */
VELLUM_C_API vellum_status vellum_external_buffer_make(const vellum_device* device, VkDeviceSize bytes,
                                                       VkBufferUsageFlags usage, vellum_external_type type,
                                                       vellum_external_buffer** buffer, vellum_error* error);
/* The device must be done with the buffer. */
VELLUM_C_API void vellum_external_buffer_destroy(vellum_external_buffer* buffer);
/* Returns VK_NULL_HANDLE for NULL. */
VELLUM_C_API VkBuffer vellum_external_buffer_handle(const vellum_external_buffer* buffer);
/* Returns the buffer's bytes if they are mapped into this process, otherwise NULL. */
VELLUM_C_API void* vellum_external_buffer_data(const vellum_external_buffer* buffer);
/* Writes a new handle of the whole memory. */
VELLUM_C_API vellum_status vellum_external_buffer_export(const vellum_external_buffer* buffer,
                                                         vellum_external_memory* memory, vellum_error* error);

typedef struct vellum_external_image vellum_external_image;

VELLUM_C_API vellum_status vellum_external_image_import(const vellum_device* device, const vellum_external_memory* memory,
                                                        const VkImageCreateInfo* info, vellum_external_image** image,
                                                        vellum_error* error);
VELLUM_C_API vellum_status vellum_external_image_make(const vellum_device* device, const VkImageCreateInfo* info,
                                                      vellum_external_type type, vellum_external_image** image,
                                                      vellum_error* error);
VELLUM_C_API void vellum_external_image_destroy(vellum_external_image* image);
VELLUM_C_API VkImage vellum_external_image_handle(const vellum_external_image* image);
/* Returns VK_FORMAT_UNDEFINED for NULL. */
VELLUM_C_API VkFormat vellum_external_image_format(const vellum_external_image* image);
/* The external format of a hardware buffer in an implementation-defined format; 0: the image has a VkFormat. */
VELLUM_C_API uint64_t vellum_external_image_external_format(const vellum_external_image* image);
VELLUM_C_API vellum_status vellum_external_image_export(const vellum_external_image* image, vellum_external_memory* memory,
                                                        vellum_error* error);

/* A handle of a semaphore. Fill it with vellum_external_semaphore_handle_init(), then set what there is. */
typedef struct vellum_external_semaphore_handle {
  size_t size; /* of this struct, as the caller was compiled */
  vellum_external_type type;
  int32_t fd;          /* for VELLUM_OPAQUE_FD and VELLUM_SYNC_FD; a sync fd of -1 is a fence that has signalled */
  void* handle;        /* a HANDLE */
  int32_t is_timeline; /* for opaque handles; not 0: a timeline semaphore */
} vellum_external_semaphore_handle;

VELLUM_C_API void vellum_external_semaphore_handle_init_sized(vellum_external_semaphore_handle* handle, size_t size);
VELLUM_C_API void vellum_external_semaphore_handle_init(vellum_external_semaphore_handle* handle);
#define vellum_external_semaphore_handle_init(handle) \
  vellum_external_semaphore_handle_init_sized((handle), sizeof(vellum_external_semaphore_handle))

typedef struct vellum_external_semaphore vellum_external_semaphore;

VELLUM_C_API vellum_status vellum_external_semaphore_import(const vellum_device* device,
                                                            const vellum_external_semaphore_handle* handle,
                                                            vellum_external_semaphore** semaphore, vellum_error* error);
/* is_timeline: not 0 for a timeline semaphore, whose value begins at 0. */
VELLUM_C_API vellum_status vellum_external_semaphore_make(const vellum_device* device, vellum_external_type type,
                                                          int32_t is_timeline, vellum_external_semaphore** semaphore,
                                                          vellum_error* error);
VELLUM_C_API void vellum_external_semaphore_destroy(vellum_external_semaphore* semaphore);
VELLUM_C_API VkSemaphore vellum_external_semaphore_vk(const vellum_external_semaphore* semaphore);
VELLUM_C_API vellum_status vellum_external_semaphore_export(const vellum_external_semaphore* semaphore,
                                                            vellum_external_semaphore_handle* handle, vellum_error* error);

/* Android hardware buffers as an input of a session: HardwareFrames in vellum/external.hpp. One thread at a
 * time, as for the session, which must outlive it. */
typedef struct vellum_hardware_frames vellum_hardware_frames;

/* most: number of buffers that stay imported; 0: eight. VELLUM_UNSUPPORTED if the device cannot import
 * hardware buffers. */
VELLUM_C_API vellum_status vellum_hardware_frames_create(vellum_session* session, const char* input,
                                                         size_t most, vellum_hardware_frames** frames,
                                                         vellum_error* error);
/* Frees all imports. */
VELLUM_C_API void vellum_hardware_frames_destroy(vellum_hardware_frames* frames);
/* Runs one inference on the frame in `buffer`, an AHardwareBuffer* of this size that its producer has
 * written, and returns when it is done. Other inputs have the values of vellum_session_set_input(),
 * vellum_session_get_output() reads outputs. */
VELLUM_C_API vellum_status vellum_hardware_frames_run(vellum_hardware_frames* frames, void* buffer,
                                                      uint32_t width, uint32_t height, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_EXTERNAL_H */

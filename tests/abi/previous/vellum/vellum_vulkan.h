/* Declarations of vellum_vulkan.h of the release before: see tests/abi/abi_check.py. */
#ifndef VELLUM_VULKAN_H
#define VELLUM_VULKAN_H
#include <vulkan/vulkan_core.h>
#include "vellum/vellum.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct vellum_vulkan_physical_device {
  PFN_vkGetInstanceProcAddr get_instance_proc_addr;
  VkInstance instance;
  uint32_t api_version;
  VkPhysicalDevice physical_device;
} vellum_vulkan_physical_device;
typedef struct vellum_vulkan_requirements vellum_vulkan_requirements;
typedef struct vellum_vulkan_use {
  size_t size;
  const char* purpose;
  int32_t required;
  const char* const* extensions;
  size_t extension_count;
  const char* const* features;
  size_t feature_count;
} vellum_vulkan_use;
VELLUM_C_API vellum_status vellum_vulkan_requirements_create(const vellum_vulkan_physical_device* device,
                                                             vellum_vulkan_requirements** requirements,
                                                             vellum_error* error);
VELLUM_C_API void vellum_vulkan_requirements_destroy(vellum_vulkan_requirements* requirements);
VELLUM_C_API size_t vellum_vulkan_requirements_use_count(const vellum_vulkan_requirements* requirements);
VELLUM_C_API vellum_status vellum_vulkan_requirements_use(const vellum_vulkan_requirements* requirements, size_t index,
                                                          vellum_vulkan_use* use, vellum_error* error);
VELLUM_C_API const char* const* vellum_vulkan_requirements_extensions(const vellum_vulkan_requirements* requirements,
                                                                      size_t* count);
VELLUM_C_API void* vellum_vulkan_requirements_enable_features(const vellum_vulkan_requirements* requirements, void* chain);
VELLUM_C_API uint32_t vellum_vulkan_requirements_compute_family(const vellum_vulkan_requirements* requirements);
typedef struct vellum_vulkan_queue {
  VkQueue queue;
  uint32_t family;
  void (*lock)(void* user);
  void (*unlock)(void* user);
  void* user;
} vellum_vulkan_queue;
typedef struct vellum_vulkan_device {
  size_t size;
  vellum_vulkan_physical_device physical;
  VkDevice device;
  vellum_vulkan_queue compute;
  const vellum_vulkan_queue* transfer;
  const char* const* extensions;
  size_t extension_count;
  const void* features;
  const VkAllocationCallbacks* allocation_callbacks;
} vellum_vulkan_device;
VELLUM_C_API void vellum_vulkan_device_init(vellum_vulkan_device* device);
VELLUM_C_API vellum_status vellum_device_adopt(const vellum_vulkan_device* device, const vellum_device_options* options,
                                               vellum_device** adopted, vellum_error* error);
typedef struct vellum_buffer_layout {
  size_t size;
  vellum_dtype element;
  VkDeviceSize bytes;
  VkDeviceSize alignment;
  VkBufferUsageFlags usage;
} vellum_buffer_layout;
VELLUM_C_API vellum_status vellum_session_input_buffer(const vellum_session* session, const char* name,
                                                       vellum_buffer_layout* layout, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_output_buffer(const vellum_session* session, const char* name,
                                                        vellum_buffer_layout* layout, vellum_error* error);
typedef struct vellum_buffer_binding {
  const char* name;
  VkBuffer buffer;
  VkDeviceSize offset;
  VkDeviceSize bytes;
} vellum_buffer_binding;
typedef struct vellum_semaphore {
  VkSemaphore semaphore;
  int32_t is_timeline;
  uint64_t value;
} vellum_semaphore;
typedef struct vellum_recording vellum_recording;
VELLUM_C_API vellum_status vellum_session_bind(vellum_session* session, const vellum_buffer_binding* inputs,
                                               size_t input_count, const vellum_buffer_binding* outputs,
                                               size_t output_count, vellum_recording** recording, vellum_error* error);
VELLUM_C_API vellum_status vellum_recording_record(const vellum_recording* recording, VkCommandBuffer commands,
                                                   vellum_error* error);
VELLUM_C_API vellum_status vellum_recording_submit(const vellum_recording* recording, const vellum_semaphore* wait,
                                                   size_t wait_count, const vellum_semaphore* signal, size_t signal_count,
                                                   vellum_error* error);
VELLUM_C_API void vellum_recording_destroy(vellum_recording* recording);
#ifdef __cplusplus
}
#endif
#endif

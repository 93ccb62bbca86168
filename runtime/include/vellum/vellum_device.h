/*
 * Devices: the list of them, and open ones. A part of vellum/vellum.h.
 */
#ifndef VELLUM_DEVICE_H
#define VELLUM_DEVICE_H

#include "vellum/vellum_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vellum_device vellum_device;

typedef enum vellum_log_level {
  VELLUM_LOG_DEBUG = 0,
  VELLUM_LOG_INFO = 1,
  VELLUM_LOG_WARNING = 2,
  VELLUM_LOG_ERROR = 3
} vellum_log_level;

/* Called with one line at a time, from any thread. */
typedef void (*vellum_log_callback)(vellum_log_level level, const char* message, void* user);

/* Priority of a device's queues among the queues of all processes. */
typedef enum vellum_global_priority {
  VELLUM_PRIORITY_UNSPECIFIED = 0, /* the driver's default, medium */
  VELLUM_PRIORITY_LOW = 1,
  VELLUM_PRIORITY_MEDIUM = 2,
  VELLUM_PRIORITY_HIGH = 3,
  VELLUM_PRIORITY_REALTIME = 4
} vellum_global_priority;

/* Whether kernels are checked against the host reference at their first use: SelfCheck in vellum/options.hpp. */
typedef enum vellum_self_check {
  VELLUM_SELF_CHECK_AUTO = 0, /* on GPUs, not on drivers that compute on the CPU */
  VELLUM_SELF_CHECK_OFF = 1,
  VELLUM_SELF_CHECK_ON = 2
} vellum_self_check;

/* Fill it with vellum_device_options_init(), then change what should differ. */
typedef struct vellum_device_options {
  size_t size;               /* of this struct, as the caller was compiled: tells the library which version it is */
  const char* device;        /* number, UUID or part of a name; NULL: a discrete GPU, else an integrated one, else a CPU */
  const char* cache_folder;  /* for compiled shaders, made if it is missing; NULL: nothing is kept on disk */
  int32_t validation;        /* not 0: the Khronos validation layer; its messages go to `log` */
  int32_t android_baseline_2022; /* not 0: limit the device to the minimum that Vellum supports */
  vellum_log_callback log;   /* NULL: nothing is logged */
  void* log_user;            /* passed to `log` */
  uint32_t wait_limit_ms;    /* limit for one submit, after which the device counts as hanging; 0: none */
  float queue_priority;      /* from 0 to 1, relative to the other queues that the process has on the device; 1 */
  vellum_global_priority global_priority; /* VELLUM_UNSUPPORTED if the device or the user lacks it */
  int32_t debug_labels;      /* not 0: label layers and name objects for debuggers; needs VK_EXT_debug_utils */
  void (*log_destroy)(void* log_user); /* NULL, or called once after the last call of `log`, also if opening fails:
                                          sessions and runs keep a device after vellum_device_destroy() */
  vellum_self_check self_check; /* whether kernels are checked at their first use; see DeviceOptions::self_check */
} vellum_device_options;

/* The defaults. The macro passes the size of the caller's struct, see vellum/vellum.h. */
VELLUM_C_API void vellum_device_options_init_sized(vellum_device_options* options, size_t size);
VELLUM_C_API void vellum_device_options_init(vellum_device_options* options);
#define vellum_device_options_init(options) vellum_device_options_init_sized((options), sizeof(vellum_device_options))

/* Opens a device. `options` may be NULL for the defaults. */
VELLUM_C_API vellum_status vellum_device_open(const vellum_device_options* options, vellum_device** device,
                                              vellum_error* error);
VELLUM_C_API void vellum_device_destroy(vellum_device* device);

/* A Vulkan device; see DeviceInfo in vellum/device.hpp. */
typedef struct vellum_device_info {
  size_t size;               /* of this struct, as the caller was compiled */
  const char* name;          /* the strings are valid as long as the list, or the device */
  const char* type;          /* "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other" */
  const char* driver;        /* name and version */
  const char* api_version;   /* "1.3.230", or "1.3" where the driver has a newer version than Vellum uses */
  uint8_t uuid[16];
  uint32_t index;            /* for vellum_device_options.device */
  uint32_t vendor_id, device_id;
  int32_t fp16_arithmetic;   /* not 0: VELLUM_ARITHMETIC_FP16 works */
  float timestamp_period_ns; /* 0: the device has no timestamps */
  int32_t luid_known;              /* 0: the driver reports no LUID; drivers on Windows do */
  uint8_t luid[8];
  uint32_t subgroup_size;          /* 0: unknown, or not every subgroup is full */
  const char* preferred_storage;   /* what VELLUM_STORAGE_AUTO means: "image2d", "image3d", "buffer" */
  const char* cooperative_matrices; /* supported fp16 matrix shapes, "KHR 16x16x16"; or "no: " and the reason */
  uint32_t max_image_dimension_2d, max_image_dimension_3d;
  uint64_t max_storage_buffer_range;
} vellum_device_info;

/* The Vulkan devices of this machine that can compute. */
typedef struct vellum_device_list vellum_device_list;
VELLUM_C_API vellum_status vellum_device_list_create(vellum_device_list** list, vellum_error* error);
VELLUM_C_API void vellum_device_list_destroy(vellum_device_list* list);
VELLUM_C_API size_t vellum_device_list_count(const vellum_device_list* list);
VELLUM_C_API vellum_status vellum_device_list_get(const vellum_device_list* list, size_t index, vellum_device_info* info,
                                                  vellum_error* error);
/* Fills `info` for an open device. */
VELLUM_C_API vellum_status vellum_device_get_info(const vellum_device* device, vellum_device_info* info,
                                                  vellum_error* error);

/* VkPhysicalDeviceIDProperties.deviceUUID. Its text has 36 characters and a zero. */
VELLUM_C_API vellum_status vellum_device_uuid(const vellum_device* device, uint8_t uuid[16], vellum_error* error);
VELLUM_C_API void vellum_uuid_text(const uint8_t uuid[16], char text[37]);
/* The names of the device and of its driver. */
VELLUM_C_API const char* vellum_device_name(const vellum_device* device);
VELLUM_C_API const char* vellum_device_driver(const vellum_device* device);
/* The number of errors and warnings that the validation layer has reported. */
VELLUM_C_API uint64_t vellum_device_validation_messages(const vellum_device* device);

/* Limits, features and traits of a device as JSON: the text of a caps file, for functions that take `caps`. NULL: the
 * minimum of the Android Baseline 2022 profile. */
VELLUM_C_API vellum_status vellum_device_caps(const vellum_device* device, vellum_text** caps, vellum_error* error);
/* The folder for Vellum's caches that the platform's conventions give this user, for vellum_device_options.cache_folder.
 * Empty if the environment names none. */
VELLUM_C_API vellum_status vellum_default_cache_folder(vellum_text** folder, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_DEVICE_H */

/* Declarations of vellum.h of the release before: see tests/abi/abi_check.py. */
#ifndef VELLUM_H
#define VELLUM_H
#include <stddef.h>
#include <stdint.h>
#include "vellum/export.h"
#if defined(__GNUC__) && !defined(_WIN32)
#define VELLUM_C_API __attribute__((visibility("default")))
#else
#define VELLUM_C_API VELLUM_API
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define VELLUM_VERSION 200
VELLUM_C_API uint32_t vellum_version(void);
typedef enum vellum_status {
  VELLUM_OK = 0,
  VELLUM_INVALID_ARGUMENT = 1,
  VELLUM_NOT_FOUND = 2,
  VELLUM_IO = 3,
  VELLUM_CORRUPT_MODEL = 4,
  VELLUM_UNSUPPORTED = 5,
  VELLUM_NO_DEVICE = 6,
  VELLUM_OUT_OF_MEMORY = 7,
  VELLUM_DEVICE_LOST = 8,
  VELLUM_INTERNAL = 9,
  VELLUM_CANCELLED = 10
} vellum_status;
#define VELLUM_MESSAGE_BYTES 512
typedef struct vellum_error {
  vellum_status status;
  char message[VELLUM_MESSAGE_BYTES];
} vellum_error;
VELLUM_C_API const char* vellum_status_text(vellum_status status);
typedef struct vellum_device vellum_device;
typedef enum vellum_log_level {
  VELLUM_LOG_DEBUG = 0,
  VELLUM_LOG_INFO = 1,
  VELLUM_LOG_WARNING = 2,
  VELLUM_LOG_ERROR = 3
} vellum_log_level;
typedef void (*vellum_log_callback)(vellum_log_level level, const char* message, void* user);
typedef enum vellum_global_priority {
  VELLUM_PRIORITY_UNSPECIFIED = 0,
  VELLUM_PRIORITY_LOW = 1,
  VELLUM_PRIORITY_MEDIUM = 2,
  VELLUM_PRIORITY_HIGH = 3,
  VELLUM_PRIORITY_REALTIME = 4
} vellum_global_priority;
typedef struct vellum_device_options {
  size_t size;
  const char* device;
  const char* cache_folder;
  int32_t validation;
  int32_t android_baseline_2022;
  vellum_log_callback log;
  void* log_user;
  uint32_t wait_limit_ms;
  float queue_priority;
  vellum_global_priority global_priority;
  int32_t debug_labels;
} vellum_device_options;
VELLUM_C_API void vellum_device_options_init(vellum_device_options* options);
VELLUM_C_API vellum_status vellum_device_open(const vellum_device_options* options, vellum_device** device,
                                              vellum_error* error);
VELLUM_C_API void vellum_device_destroy(vellum_device* device);
typedef struct vellum_device_info {
  size_t size;
  const char* name;
  const char* type;
  const char* driver;
  const char* api_version;
  uint8_t uuid[16];
  uint32_t index;
  uint32_t vendor_id, device_id;
  int32_t fp16_arithmetic;
  float timestamp_period_ns;
} vellum_device_info;
typedef struct vellum_device_list vellum_device_list;
VELLUM_C_API vellum_status vellum_device_list_create(vellum_device_list** list, vellum_error* error);
VELLUM_C_API void vellum_device_list_destroy(vellum_device_list* list);
VELLUM_C_API size_t vellum_device_list_count(const vellum_device_list* list);
VELLUM_C_API vellum_status vellum_device_list_get(const vellum_device_list* list, size_t index, vellum_device_info* info,
                                                  vellum_error* error);
VELLUM_C_API vellum_status vellum_device_get_info(const vellum_device* device, vellum_device_info* info,
                                                  vellum_error* error);
VELLUM_C_API vellum_status vellum_device_uuid(const vellum_device* device, uint8_t uuid[16], vellum_error* error);
VELLUM_C_API const char* vellum_device_name(const vellum_device* device);
VELLUM_C_API const char* vellum_device_driver(const vellum_device* device);
VELLUM_C_API uint64_t vellum_device_validation_messages(const vellum_device* device);
typedef struct vellum_model vellum_model;
VELLUM_C_API vellum_status vellum_model_load(const char* file, vellum_model** model, vellum_error* error);
VELLUM_C_API vellum_status vellum_model_load_bytes(const void* bytes, size_t byte_count, vellum_model** model,
                                                   vellum_error* error);
typedef struct vellum_load_limits {
  size_t size;
  uint64_t nodes;
  uint64_t elements;
  uint64_t folded_bytes;
  uint64_t folded_work;
  uint32_t nesting;
} vellum_load_limits;
VELLUM_C_API void vellum_load_limits_init(vellum_load_limits* limits);
VELLUM_C_API vellum_status vellum_model_load_within(const char* file, const vellum_load_limits* limits,
                                                    vellum_model** model, vellum_error* error);
VELLUM_C_API vellum_status vellum_model_load_bytes_within(const void* bytes, size_t byte_count,
                                                          const vellum_load_limits* limits, vellum_model** model,
                                                          vellum_error* error);
VELLUM_C_API void vellum_model_destroy(vellum_model* model);
typedef enum vellum_dtype {
  VELLUM_F32 = 0,
  VELLUM_F16 = 1,
  VELLUM_F64 = 2,
  VELLUM_I64 = 3,
  VELLUM_I32 = 4,
  VELLUM_I16 = 5,
  VELLUM_I8 = 6,
  VELLUM_U64 = 7,
  VELLUM_U32 = 8,
  VELLUM_U16 = 9,
  VELLUM_U8 = 10,
  VELLUM_BOOL = 11
} vellum_dtype;
typedef struct vellum_tensor_info {
  size_t size;
  const char* name;
  const int64_t* dims;
  size_t rank;
  vellum_dtype dtype;
  size_t byte_size;
} vellum_tensor_info;
VELLUM_C_API size_t vellum_model_input_count(const vellum_model* model);
VELLUM_C_API size_t vellum_model_output_count(const vellum_model* model);
VELLUM_C_API vellum_status vellum_model_input(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                              vellum_error* error);
VELLUM_C_API vellum_status vellum_model_output(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                               vellum_error* error);
typedef struct vellum_session vellum_session;
typedef enum vellum_precision { VELLUM_FP32 = 0, VELLUM_FP16 = 1 } vellum_precision;
typedef enum vellum_arithmetic {
  VELLUM_ARITHMETIC_FP32 = 0,
  VELLUM_ARITHMETIC_FP16 = 1,
  VELLUM_ARITHMETIC_AUTO = 2
} vellum_arithmetic;
typedef enum vellum_storage {
  VELLUM_STORAGE_AUTO = 0,
  VELLUM_STORAGE_IMAGE2D = 1,
  VELLUM_STORAGE_IMAGE3D = 2,
  VELLUM_STORAGE_BUFFER = 3
} vellum_storage;
typedef enum vellum_memory {
  VELLUM_MEMORY_SHARED_OBJECTS = 0,
  VELLUM_MEMORY_NAIVE = 1,
  VELLUM_MEMORY_OFFSETS = 2
} vellum_memory;
typedef enum vellum_winograd {
  VELLUM_WINOGRAD_AUTO = 0,
  VELLUM_WINOGRAD_OFF = 1,
  VELLUM_WINOGRAD_F2 = 2,
  VELLUM_WINOGRAD_F4 = 3
} vellum_winograd;
typedef struct vellum_input_shape {
  const char* name;
  const int64_t* dims;
  size_t rank;
} vellum_input_shape;
#define VELLUM_SUBMIT_MS_AUTO UINT32_MAX
typedef struct vellum_session_options {
  size_t size;
  vellum_precision precision;
  vellum_storage storage;
  vellum_memory memory;
  const char* strategy;
  const vellum_input_shape* input_shapes;
  size_t input_shape_count;
  uint32_t tasks_per_submit;
  int32_t profile;
  uint32_t cached_shapes;
  uint32_t search_ms;
  int32_t in_place;
  int32_t views;
  int32_t reorder;
  uint64_t weights_budget;
  vellum_winograd winograd;
  uint32_t in_flight;
  int32_t tuned;
  vellum_arithmetic arithmetic;
  int32_t check_finite;
  const char* const* disabled_passes;
  size_t disabled_pass_count;
  uint32_t max_submit_ms;
} vellum_session_options;
VELLUM_C_API void vellum_session_options_init(vellum_session_options* options);
VELLUM_C_API vellum_status vellum_session_create(const vellum_device* device, const vellum_model* model,
                                                 const vellum_session_options* options, vellum_session** session,
                                                 vellum_error* error);
VELLUM_C_API void vellum_session_destroy(vellum_session* session);
VELLUM_C_API size_t vellum_session_warning_count(const vellum_session* session);
VELLUM_C_API const char* vellum_session_warning(const vellum_session* session, size_t index);
typedef struct vellum_session_creation vellum_session_creation;
VELLUM_C_API vellum_status vellum_session_create_async(const vellum_device* device, const vellum_model* model,
                                                       const vellum_session_options* options,
                                                       vellum_session_creation** creation, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_creation_progress(const vellum_session_creation* creation, size_t* ready,
                                                            size_t* total, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_creation_wait_for(const vellum_session_creation* creation,
                                                            uint32_t milliseconds, int32_t* done, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_creation_cancel(const vellum_session_creation* creation, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_creation_get(vellum_session_creation* creation, vellum_session** session,
                                                       vellum_error* error);
VELLUM_C_API void vellum_session_creation_destroy(vellum_session_creation* creation);
VELLUM_C_API size_t vellum_session_input_count(const vellum_session* session);
VELLUM_C_API size_t vellum_session_output_count(const vellum_session* session);
VELLUM_C_API vellum_status vellum_session_input(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                                vellum_error* error);
VELLUM_C_API vellum_status vellum_session_output(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                                 vellum_error* error);
VELLUM_C_API vellum_status vellum_session_set_input(vellum_session* session, const char* name, const void* values,
                                                    size_t byte_count, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_set_input_shaped(vellum_session* session, const char* name,
                                                           const int64_t* dims, size_t rank, const void* values,
                                                           size_t byte_count, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_prepare(vellum_session* session, const vellum_input_shape* shapes,
                                                  size_t shape_count, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_run(vellum_session* session, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_get_output(const vellum_session* session, const char* name, void* values,
                                                     size_t byte_count, vellum_error* error);
typedef struct vellum_run vellum_run;
typedef struct vellum_input_values {
  const char* name;
  const void* values;
  size_t byte_count;
  const int64_t* dims;
  size_t rank;
} vellum_input_values;
typedef struct vellum_output_values {
  const char* name;
  void* values;
  size_t byte_count;
} vellum_output_values;
VELLUM_C_API vellum_status vellum_session_submit(vellum_session* session, const vellum_input_values* inputs,
                                                 size_t input_count, const vellum_output_values* outputs,
                                                 size_t output_count, vellum_run** run, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_try_submit(vellum_session* session, const vellum_input_values* inputs,
                                                     size_t input_count, const vellum_output_values* outputs,
                                                     size_t output_count, vellum_run** run, vellum_error* error);
VELLUM_C_API vellum_status vellum_run_done(const vellum_run* run, int32_t* done, vellum_error* error);
VELLUM_C_API vellum_status vellum_run_wait(const vellum_run* run, vellum_error* error);
VELLUM_C_API vellum_status vellum_run_wait_for(const vellum_run* run, uint32_t milliseconds, int32_t* done,
                                               vellum_error* error);
VELLUM_C_API vellum_status vellum_run_cancel(const vellum_run* run, vellum_error* error);
VELLUM_C_API void vellum_run_destroy(vellum_run* run);
typedef struct vellum_memory_estimate {
  size_t size;
  uint64_t weights;
  uint64_t in_out;
  uint64_t intermediates;
  uint64_t workspace;
  uint64_t staging;
  uint64_t resident;
  uint64_t total;
  int driver_known;
  uint64_t allocated_peak;
  uint64_t shape_inference_total;
} vellum_memory_estimate;
VELLUM_C_API vellum_status vellum_estimate_memory(const vellum_model* model, const vellum_session_options* options,
                                                  const vellum_device* device, const char* caps,
                                                  vellum_memory_estimate* estimate, vellum_error* error);
typedef struct vellum_bundle_summary {
  size_t size;
  size_t shaders;
  size_t weights;
  uint64_t weights_bytes;
  uint64_t file_bytes;
} vellum_bundle_summary;
VELLUM_C_API vellum_status vellum_write_bundle(const char* model, const char* file, const vellum_device* device,
                                               const char* caps, const vellum_session_options* options,
                                               vellum_bundle_summary* summary, vellum_error* error);
typedef struct vellum_memory_report {
  size_t size;
  size_t object_count;
  uint64_t naive_bytes;
  uint64_t planned_bytes;
  uint64_t lower_bound_bytes;
  uint64_t allocated_bytes;
  uint64_t weights_bytes;
  uint64_t in_out_bytes;
  uint64_t streamed_weights_bytes;
  uint32_t in_flight;
} vellum_memory_report;
typedef struct vellum_object_report {
  size_t size;
  const char* kind;
  const char* format;
  uint32_t extent[3];
  uint32_t reuse_count;
  uint64_t bytes;
  const char* const* tensors;
} vellum_object_report;
VELLUM_C_API vellum_status vellum_session_memory(const vellum_session* session, vellum_memory_report* report,
                                                 vellum_error* error);
VELLUM_C_API vellum_status vellum_session_object(const vellum_session* session, size_t index,
                                                 vellum_object_report* report, vellum_error* error);
typedef struct vellum_layer_time {
  size_t size;
  const char* name;
  const char* op;
  const char* shader;
  double gpu_ms;
  double begin_ms;
  const char* storage;
} vellum_layer_time;
VELLUM_C_API size_t vellum_session_layer_count(const vellum_session* session);
VELLUM_C_API vellum_status vellum_session_layer(const vellum_session* session, size_t index, vellum_layer_time* time,
                                                vellum_error* error);
typedef struct vellum_tune_options {
  size_t size;
  double seconds;
  int32_t again;
  int32_t storages;
  void (*progress)(const char* step, size_t done, size_t total, void* user);
  void* progress_user;
} vellum_tune_options;
typedef struct vellum_tune_result {
  size_t size;
  double untuned_ms, tuned_ms;
  uint64_t untuned_weights_bytes, tuned_weights_bytes;
  double seconds;
  int32_t complete;
  int32_t kept;
} vellum_tune_result;
VELLUM_C_API void vellum_tune_options_init(vellum_tune_options* options);
VELLUM_C_API vellum_status vellum_tune(const vellum_device* device, const vellum_model* model,
                                       const vellum_session_options* session_options, const vellum_tune_options* options,
                                       vellum_tune_result* result, vellum_error* error);
VELLUM_C_API vellum_status vellum_forget_tuning(const vellum_device* device, vellum_error* error);
#ifdef __cplusplus
}
#endif
#endif

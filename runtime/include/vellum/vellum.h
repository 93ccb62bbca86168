/*
 * Vellum in C: Vulkan compute inference for vision models, with planned, shared memory.
 *
 *   vellum_error error;
 *   vellum_device* device = NULL;
 *   vellum_model* model = NULL;
 *   vellum_session* session = NULL;
 *   if (vellum_device_open(NULL, &device, &error) || vellum_model_load("model.onnx", &model, &error) ||
 *       vellum_session_create(device, model, NULL, &session, &error) ||
 *       vellum_session_set_input(session, "image", pixels, sizeof pixels, &error) ||
 *       vellum_session_run(session, &error) ||
 *       vellum_session_get_output(session, "scores", scores, sizeof scores, &error))
 *     fprintf(stderr, "%s\n", error.message);
 *
 * Every function that can fail returns a status, 0 for success, and fills a vellum_error, which may be NULL. Nothing is
 * thrown. A function that fails to make a handle sets it to NULL. Strings are UTF-8 and end with a zero; strings that
 * the library returns are valid as long as the handle that they come from. Destroying NULL does nothing. A session
 * keeps its device and model alive: they may be destroyed in any order.
 *
 * Structs with a `size` are filled as far as the caller knows them: set it to the size of the struct first, as in
 * `vellum_tensor_info info = {sizeof info};`. Options are filled by their _init function, which sets it.
 *
 * Threads: devices and models may be used from several threads at once, a session from one at a time, except for
 * submitting runs. Different runs may be used on different threads.
 */
#ifndef VELLUM_H
#define VELLUM_H

#include <stddef.h>
#include <stdint.h>

#include "vellum/export.h"

/* Visible, too, in a shared library that is made of the static one, as for JNI, ctypes or P/Invoke. */
#if defined(__GNUC__) && !defined(_WIN32)
#define VELLUM_C_API __attribute__((visibility("default")))
#else
#define VELLUM_C_API VELLUM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: 10000 * major + 100 * minor + patch. */
#define VELLUM_VERSION 200

/* The version of the linked library, in the same form. */
VELLUM_C_API uint32_t vellum_version(void);

typedef enum vellum_status {
  VELLUM_OK = 0,
  VELLUM_INVALID_ARGUMENT = 1, /* an argument is invalid: wrong size, unknown option, NULL */
  VELLUM_NOT_FOUND = 2,        /* a file, device, input or output does not exist */
  VELLUM_IO = 3,               /* reading or writing failed */
  VELLUM_CORRUPT_MODEL = 4,    /* the model file is truncated or contradicts itself */
  VELLUM_UNSUPPORTED = 5,      /* a valid model or option that Vellum cannot run */
  VELLUM_NO_DEVICE = 6,        /* no Vulkan loader, driver or usable device */
  VELLUM_OUT_OF_MEMORY = 7,    /* of the host or the device */
  VELLUM_DEVICE_LOST = 8,      /* the device stopped answering */
  VELLUM_INTERNAL = 9,         /* a bug in Vellum */
  VELLUM_CANCELLED = 10        /* the caller cancelled it */
} vellum_status;

#define VELLUM_MESSAGE_BYTES 512

/* The error of a function that failed; not changed on success. */
typedef struct vellum_error {
  vellum_status status;
  char message[VELLUM_MESSAGE_BYTES]; /* one line that names file, operator or tensor; cut off if it is longer */
} vellum_error;

/* Returns a status as text: "corrupt model". */
VELLUM_C_API const char* vellum_status_text(vellum_status status);

/* ---- Devices ---------------------------------------------------------------------------------------------------- */

typedef struct vellum_device vellum_device;

typedef enum vellum_log_level {
  VELLUM_LOG_DEBUG = 0,
  VELLUM_LOG_INFO = 1,
  VELLUM_LOG_WARNING = 2,
  VELLUM_LOG_ERROR = 3
} vellum_log_level;

/* Called with one line at a time, from any thread. */
typedef void (*vellum_log_callback)(vellum_log_level level, const char* message, void* user);

/* Of a device's queues, relative to those of all processes. */
typedef enum vellum_global_priority {
  VELLUM_PRIORITY_UNSPECIFIED = 0, /* the driver's default, medium */
  VELLUM_PRIORITY_LOW = 1,
  VELLUM_PRIORITY_MEDIUM = 2,
  VELLUM_PRIORITY_HIGH = 3,
  VELLUM_PRIORITY_REALTIME = 4
} vellum_global_priority;

/* Fill it with vellum_device_options_init(), then change what should differ. */
typedef struct vellum_device_options {
  size_t size;               /* of this struct, as the caller was compiled: how the library tells versions apart */
  const char* device;        /* number, UUID or part of a name; NULL: a discrete GPU, else an integrated one, else a CPU */
  const char* cache_folder;  /* for compiled shaders, made if it is missing; NULL: nothing is kept on disk */
  int32_t validation;        /* not 0: the Khronos validation layer; its messages go to `log` */
  int32_t android_baseline_2022; /* not 0: behave as on the least device that Vellum supports */
  vellum_log_callback log;   /* NULL: nothing is logged */
  void* log_user;            /* passed to `log` */
  uint32_t wait_limit_ms;    /* for one submit before the device counts as hanging; 0: no limit */
  float queue_priority;      /* from 0 to 1, relative to the other queues that the process has on the device; 1 */
  vellum_global_priority global_priority; /* VELLUM_UNSUPPORTED if the device has none, or this user may not have it */
  int32_t debug_labels;      /* not 0: labels of layers and names of objects, for debuggers; needs VK_EXT_debug_utils */
} vellum_device_options;

/* The defaults. */
VELLUM_C_API void vellum_device_options_init(vellum_device_options* options);

/* Opens a device. `options` may be NULL for the defaults. */
VELLUM_C_API vellum_status vellum_device_open(const vellum_device_options* options, vellum_device** device,
                                              vellum_error* error);
VELLUM_C_API void vellum_device_destroy(vellum_device* device);

/* A Vulkan device; see DeviceInfo in vellum/vellum.hpp. */
typedef struct vellum_device_info {
  size_t size;               /* of this struct, as the caller was compiled */
  const char* name;          /* the strings are valid as long as the list, or the device */
  const char* type;          /* "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other" */
  const char* driver;        /* name and version */
  const char* api_version;   /* "1.3.230" */
  uint8_t uuid[16];
  uint32_t index;            /* as vellum_device_options.device counts */
  uint32_t vendor_id, device_id;
  int32_t fp16_arithmetic;   /* not 0: VELLUM_ARITHMETIC_FP16 works */
  float timestamp_period_ns; /* 0: no times of layers */
} vellum_device_info;

/* The Vulkan devices of this machine that can compute. */
typedef struct vellum_device_list vellum_device_list;
VELLUM_C_API vellum_status vellum_device_list_create(vellum_device_list** list, vellum_error* error);
VELLUM_C_API void vellum_device_list_destroy(vellum_device_list* list);
VELLUM_C_API size_t vellum_device_list_count(const vellum_device_list* list);
VELLUM_C_API vellum_status vellum_device_list_get(const vellum_device_list* list, size_t index, vellum_device_info* info,
                                                  vellum_error* error);
/* The same for an open device. */
VELLUM_C_API vellum_status vellum_device_get_info(const vellum_device* device, vellum_device_info* info,
                                                  vellum_error* error);

/* VkPhysicalDeviceIDProperties.deviceUUID. */
VELLUM_C_API vellum_status vellum_device_uuid(const vellum_device* device, uint8_t uuid[16], vellum_error* error);
/* The names of the device and of its driver. */
VELLUM_C_API const char* vellum_device_name(const vellum_device* device);
VELLUM_C_API const char* vellum_device_driver(const vellum_device* device);
/* The number of errors and warnings that the validation layer has reported. */
VELLUM_C_API uint64_t vellum_device_validation_messages(const vellum_device* device);

/* ---- Models ----------------------------------------------------------------------------------------------------- */

typedef struct vellum_model vellum_model;

/* Reads an ONNX model, a TFLite model or a bundle (`vellum bundle`), recognised by its content. */
VELLUM_C_API vellum_status vellum_model_load(const char* file, vellum_model** model, vellum_error* error);
/* Reads a model from memory; the bytes may be freed afterwards. */
VELLUM_C_API vellum_status vellum_model_load_bytes(const void* bytes, size_t byte_count, vellum_model** model,
                                                   vellum_error* error);

/* Limits on what a file may ask of the machine, see vellum/limits.hpp. Fill it with vellum_load_limits_init(). */
typedef struct vellum_load_limits {
  size_t size;           /* of this struct, as the caller was compiled */
  uint64_t nodes;        /* of all graphs of the file */
  uint64_t elements;     /* of one tensor */
  uint64_t folded_bytes; /* of constants that are computed */
  uint64_t folded_work;  /* elementary operations on constants */
  uint32_t nesting;      /* of graphs */
} vellum_load_limits;

/* The defaults, which the two functions above have. */
VELLUM_C_API void vellum_load_limits_init(vellum_load_limits* limits);
/* Read a model as the functions above do; one that exceeds the limits is refused. */
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
  VELLUM_BOOL = 11 /* a byte, 0 or 1 */
} vellum_dtype;

/*
 * An input or output. Its values are dense and row-major, in the model's own order of dimensions. Some outputs have a
 * data-dependent shape, e.g. how many boxes NonMaxSuppression keeps: get their info after each run.
 */
typedef struct vellum_tensor_info {
  size_t size;         /* of this struct, as the caller was compiled */
  const char* name;    /* of a model valid as long as it, of a session until the next run or vellum_session_prepare() */
  const int64_t* dims; /* outermost first, valid as long; -1 for a dimension that is open or not yet known */
  size_t rank;
  vellum_dtype dtype;
  size_t byte_size; /* of all values; 0 while a dimension is open */
} vellum_tensor_info;

/* The model's inputs and outputs; a dimension that the model leaves open, or only a run tells, is -1. */
VELLUM_C_API size_t vellum_model_input_count(const vellum_model* model);
VELLUM_C_API size_t vellum_model_output_count(const vellum_model* model);
VELLUM_C_API vellum_status vellum_model_input(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                              vellum_error* error);
VELLUM_C_API vellum_status vellum_model_output(const vellum_model* model, size_t index, vellum_tensor_info* info,
                                               vellum_error* error);

/* ---- Sessions --------------------------------------------------------------------------------------------------- */

typedef struct vellum_session vellum_session;

typedef enum vellum_precision { VELLUM_FP32 = 0, VELLUM_FP16 = 1 } vellum_precision;
/* How operators with constant weights multiply halves; accumulators are fp32 in any case. */
typedef enum vellum_arithmetic {
  VELLUM_ARITHMETIC_FP32 = 0,
  VELLUM_ARITHMETIC_FP16 = 1, /* as halves: only with VELLUM_FP16, on devices with shaderFloat16 */
  VELLUM_ARITHMETIC_AUTO = 2  /* as halves where vellum_tune() measured it to be faster */
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
  VELLUM_MEMORY_OFFSETS = 2 /* an object for each tensor, aliased at planned offsets of one arena */
} vellum_memory;

/* How 3x3 convolutions of stride 1 are computed. */
typedef enum vellum_winograd {
  VELLUM_WINOGRAD_AUTO = 0, /* either of the two below, in convolutions where vellum_tune() measured it to be faster */
  VELLUM_WINOGRAD_OFF = 1,
  VELLUM_WINOGRAD_F2 = 2, /* 2.25 times fewer multiplications, 1.8 times the weights, where that should be faster */
  VELLUM_WINOGRAD_F4 = 3  /* 4 times fewer multiplications, 4 times the weights, less accurate; only in fp32 */
} vellum_winograd;

/* The shape of an input: for dimensions that the model leaves open, or to override its shape. */
typedef struct vellum_input_shape {
  const char* name;
  const int64_t* dims; /* outermost first */
  size_t rank;
} vellum_input_shape;

#define VELLUM_SUBMIT_MS_AUTO UINT32_MAX

/* Fill it with vellum_session_options_init(), then change what should differ. */
typedef struct vellum_session_options {
  size_t size;                 /* of this struct, as the caller was compiled */
  vellum_precision precision;  /* of stored intermediates and weights */
  vellum_storage storage;      /* of intermediate tensors */
  vellum_memory memory;        /* whether tensors share objects */
  const char* strategy;        /* of sharing, a name from docs/planner.md; NULL: "best" */
  const vellum_input_shape* input_shapes;
  size_t input_shape_count;
  uint32_t tasks_per_submit;   /* 0: no limit; N: a submit ends after N tasks */
  int32_t profile;             /* not 0: GPU timestamps, for vellum_session_layer() */
  uint32_t cached_shapes;      /* for how many combinations of input shapes a session stays ready; at least 1 */
  uint32_t search_ms;          /* milliseconds to search for a smaller plan; 0: no search */
  /* Ways to need less memory, with the same results bit for bit; 0 turns one off. */
  int32_t in_place;            /* elementwise operators write over an input that dies there */
  int32_t views;               /* concatenations and splits without copies, where buffers hold the tensors */
  int32_t reorder;             /* tasks in another order than the model's */
  uint64_t weights_budget;     /* bytes of device memory for weights, which then come layer by layer; 0: all at once */
  vellum_winograd winograd;    /* trades memory for speed in 3x3 convolutions; not with a budget of weights */
  uint32_t in_flight;          /* runs of vellum_session_submit() under way at once, each with tensors of its own; 1 */
  int32_t tuned;               /* 0: ignore what vellum_tune() measured on the device */
  vellum_arithmetic arithmetic;
  int32_t check_finite;        /* not 0: NaN and infinities in inputs and outputs are errors */
  const char* const* disabled_passes; /* names of graph passes to leave out, docs/models.md; to find faults */
  size_t disabled_pass_count;
  uint32_t max_submit_ms;      /* of predicted work that a run hands to the device at a time; 0: no limit; the default,
                                  VELLUM_SUBMIT_MS_AUTO: 16 on GPUs that may serve a display, else no limit */
} vellum_session_options;

/* The defaults. */
VELLUM_C_API void vellum_session_options_init(vellum_session_options* options);

/*
 * Makes a session: plans, allocates, compiles and records. `options` may be NULL for the defaults. If the shape of an
 * input is neither fixed by the model nor given, this happens at the first run. Sessions of one model on one device
 * share weights.
 */
VELLUM_C_API vellum_status vellum_session_create(const vellum_device* device, const vellum_model* model,
                                                 const vellum_session_options* options, vellum_session** session,
                                                 vellum_error* error);
VELLUM_C_API void vellum_session_destroy(vellum_session* session);

/* Warnings, e.g. about operators that run on the host; valid until the next run or vellum_session_prepare(). */
VELLUM_C_API size_t vellum_session_warning_count(const vellum_session* session);
/* Empty if `index` is out of range. */
VELLUM_C_API const char* vellum_session_warning(const vellum_session* session, size_t index);

/*
 * A session that is being made on a thread of its own, see SessionCreation in vellum/vellum.hpp. One thread at a time,
 * except for its progress and its cancellation.
 */
typedef struct vellum_session_creation vellum_session_creation;
VELLUM_C_API vellum_status vellum_session_create_async(const vellum_device* device, const vellum_model* model,
                                                       const vellum_session_options* options,
                                                       vellum_session_creation** creation, vellum_error* error);
/* The pipelines that are ready, of `total`, which is 0 until the network is compiled; either may be NULL. */
VELLUM_C_API vellum_status vellum_session_creation_progress(const vellum_session_creation* creation, size_t* ready,
                                                            size_t* total, vellum_error* error);
/* Waits at most so many milliseconds, then sets *done to not 0 if vellum_session_creation_get() would return at once. */
VELLUM_C_API vellum_status vellum_session_creation_wait_for(const vellum_session_creation* creation,
                                                            uint32_t milliseconds, int32_t* done, vellum_error* error);
/* Returns at once; vellum_session_creation_get() then returns VELLUM_CANCELLED, unless the session was ready. */
VELLUM_C_API vellum_status vellum_session_creation_cancel(const vellum_session_creation* creation, vellum_error* error);
/* Waits for the session, or the error with which its creation ended; once. */
VELLUM_C_API vellum_status vellum_session_creation_get(vellum_session_creation* creation, vellum_session** session,
                                                       vellum_error* error);
/* Cancels, and waits for the thread. */
VELLUM_C_API void vellum_session_creation_destroy(vellum_session_creation* creation);

VELLUM_C_API size_t vellum_session_input_count(const vellum_session* session);
VELLUM_C_API size_t vellum_session_output_count(const vellum_session* session);
/* Get the info of an input or output; VELLUM_INVALID_ARGUMENT if `index` is out of range. */
VELLUM_C_API vellum_status vellum_session_input(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                                vellum_error* error);
VELLUM_C_API vellum_status vellum_session_output(const vellum_session* session, size_t index, vellum_tensor_info* info,
                                                 vellum_error* error);

/* Sets an input by copy; it keeps its value over runs. `byte_count` must be the input's byte_size. */
VELLUM_C_API vellum_status vellum_session_set_input(vellum_session* session, const char* name, const void* values,
                                                    size_t byte_count, vellum_error* error);
/* Sets an input with another shape than its current one; the session is prepared for it at the next run. */
VELLUM_C_API vellum_status vellum_session_set_input_shaped(vellum_session* session, const char* name,
                                                           const int64_t* dims, size_t rank, const void* values,
                                                           size_t byte_count, vellum_error* error);
/* Prepares the session for these input shapes now; omitted inputs keep their shape. */
VELLUM_C_API vellum_status vellum_session_prepare(vellum_session* session, const vellum_input_shape* shapes,
                                                  size_t shape_count, vellum_error* error);
/* Runs one inference and returns when it is done. Every input must have been set. */
VELLUM_C_API vellum_status vellum_session_run(vellum_session* session, vellum_error* error);
/* Copies an output of the last run. `byte_count` must be the output's byte_size. */
VELLUM_C_API vellum_status vellum_session_get_output(const vellum_session* session, const char* name, void* values,
                                                     size_t byte_count, vellum_error* error);

/* ---- Runs in flight ----------------------------------------------------------------------------------------------- */

/* An inference that was submitted. It may outlive its session. */
typedef struct vellum_run vellum_run;

/* An input in the caller's memory. */
typedef struct vellum_input_values {
  const char* name;
  const void* values;
  size_t byte_count;
  const int64_t* dims; /* outermost first; NULL: the input's current shape */
  size_t rank;
} vellum_input_values;

/* The memory for an output; `byte_count` must be its byte_size. */
typedef struct vellum_output_values {
  const char* name;
  void* values;
  size_t byte_count;
} vellum_output_values;

/*
 * Begins an inference and returns as soon as the device has it. If vellum_session_options.in_flight runs are under way,
 * it first waits for the oldest. Every input is given here, and copied. The outputs' memory belongs to the library until
 * the run is done or destroyed; outputs that are not listed are not read. Inputs of vellum_session_set_input() and the
 * outputs of the last vellum_session_run() are dropped. May be called from several threads at once.
 */
VELLUM_C_API vellum_status vellum_session_submit(vellum_session* session, const vellum_input_values* inputs,
                                                 size_t input_count, const vellum_output_values* outputs,
                                                 size_t output_count, vellum_run** run, vellum_error* error);
/*
 * Does the same where a run can begin at once; otherwise, where in_flight runs are under way, it succeeds with *run NULL,
 * so that a producer of frames can drop this one. Never waits for the device. VELLUM_INVALID_ARGUMENT if the session is
 * not prepared for these shapes.
 */
VELLUM_C_API vellum_status vellum_session_try_submit(vellum_session* session, const vellum_input_values* inputs,
                                                     size_t input_count, const vellum_output_values* outputs,
                                                     size_t output_count, vellum_run** run, vellum_error* error);
/* Sets *done to not 0 if vellum_run_wait() would return at once. Does not wait. */
VELLUM_C_API vellum_status vellum_run_done(const vellum_run* run, int32_t* done, vellum_error* error);
/* Waits until the run and earlier ones are done and its outputs are written. Returns the run's error on every call. */
VELLUM_C_API vellum_status vellum_run_wait(const vellum_run* run, vellum_error* error);
/* Waits at most so many milliseconds for the device, then sets *done as vellum_run_done() does. */
VELLUM_C_API vellum_status vellum_run_wait_for(const vellum_run* run, uint32_t milliseconds, int32_t* done,
                                               vellum_error* error);
/*
 * Stops what the device has not been given yet, and operators on the host; returns at once. vellum_run_wait() then returns
 * VELLUM_CANCELLED when the device has done what it has. See Run::cancel() in vellum/vellum.hpp. From any thread.
 */
VELLUM_C_API vellum_status vellum_run_cancel(const vellum_run* run, vellum_error* error);
/* Waits, so that nothing is written to the caller's memory afterwards. */
VELLUM_C_API void vellum_run_destroy(vellum_run* run);

/* ---- Estimated memory --------------------------------------------------------------------------------------------- */

/* Bytes, see vellum/estimate.hpp. */
typedef struct vellum_memory_estimate {
  size_t size;                 /* of this struct, as the caller was compiled */
  uint64_t weights;
  uint64_t in_out;
  uint64_t intermediates;
  uint64_t workspace;
  uint64_t staging;
  uint64_t resident;
  uint64_t total;                 /* of the six */
  int driver_known;               /* 0: `resident` excludes a CPU driver's own memory, which the caps lack */
  uint64_t allocated_peak;        /* the peak of allocations from Vulkan, padding included */
  uint64_t shape_inference_total; /* the estimate from shapes alone */
} vellum_memory_estimate;

/*
 * Estimates the memory of a session with these options before it is made. Sizes in memory come from `device`; if it is
 * NULL, they are modelled from `caps`, the text of a caps file (`vellum devices --save-caps`); if both are NULL, from the
 * Android Baseline 2022 profile.
 */
VELLUM_C_API vellum_status vellum_estimate_memory(const vellum_model* model, const vellum_session_options* options,
                                                  const vellum_device* device, const char* caps,
                                                  vellum_memory_estimate* estimate, vellum_error* error);

/* ---- Bundles ------------------------------------------------------------------------------------------------------ */

/* What vellum_write_bundle() wrote. */
typedef struct vellum_bundle_summary {
  size_t size;            /* of this struct, as the caller was compiled */
  size_t shaders;         /* variants that were compiled */
  size_t weights;         /* that were prepacked */
  uint64_t weights_bytes; /* of these */
  uint64_t file_bytes;
} vellum_bundle_summary;

/*
 * Writes a bundle of the model in the file `model` to `file`, whose folder must exist, for sessions with these options; see
 * vellum/pack.hpp. For `device`, or if it is NULL for the device of `caps` (the text of a caps file), or the Android
 * Baseline 2022 profile. `options` and `summary` may be NULL.
 */
VELLUM_C_API vellum_status vellum_write_bundle(const char* model, const char* file, const vellum_device* device,
                                               const char* caps, const vellum_session_options* options,
                                               vellum_bundle_summary* summary, vellum_error* error);

/* ---- Memory and time of a session --------------------------------------------------------------------------------- */

/* Bytes. */
typedef struct vellum_memory_report {
  size_t size;                 /* of this struct, as the caller was compiled */
  size_t object_count;
  uint64_t naive_bytes;       /* every intermediate tensor in memory of its own */
  uint64_t planned_bytes;     /* the sum of all allocations that hold objects */
  uint64_t lower_bound_bytes; /* no plan of this mode can be smaller */
  uint64_t allocated_bytes;   /* for intermediates, as passed to vkAllocateMemory */
  uint64_t weights_bytes;     /* for weights, as passed to vkAllocateMemory */
  uint64_t in_out_bytes;      /* for inputs and outputs, as passed to vkAllocateMemory */
  uint64_t streamed_weights_bytes; /* copied to the device in every run; 0 without a weights budget */
  uint32_t in_flight;         /* allocated_bytes and in_out_bytes are for this many runs together */
} vellum_memory_report;

/*
 * One device image or buffer that carries intermediate tensors; with VELLUM_MEMORY_OFFSETS it has one tensor. The strings
 * are valid until the next run or vellum_session_prepare().
 */
typedef struct vellum_object_report {
  size_t size;                 /* of this struct, as the caller was compiled */
  const char* kind;           /* "image2d", "image3d", "buffer" */
  const char* format;         /* "rgba32f", "rgba16f"; empty for buffers */
  uint32_t extent[3];         /* texels: width, height, depth; images only */
  uint32_t reuse_count;       /* tensors that it carries in one inference */
  uint64_t bytes;             /* of device memory, padding included */
  const char* const* tensors; /* reuse_count names, in order of first use */
} vellum_object_report;

VELLUM_C_API vellum_status vellum_session_memory(const vellum_session* session, vellum_memory_report* report,
                                                 vellum_error* error);
VELLUM_C_API vellum_status vellum_session_object(const vellum_session* session, size_t index,
                                                 vellum_object_report* report, vellum_error* error);

/* A task of the last run, in execution order. The strings are valid until the session's next run. */
typedef struct vellum_layer_time {
  size_t size;                 /* of this struct, as the caller was compiled */
  const char* name;   /* of the node */
  const char* op;     /* operator type; "Convert" for a layout conversion */
  const char* shader; /* empty: ran on the host */
  double gpu_ms;      /* NaN if the device has no timestamps, and on the host */
  double begin_ms;    /* relative to the first task; NaN likewise */
  const char* storage; /* of its output: "image2d", "image3d", "buffer"; empty on the host */
} vellum_layer_time;

/* 0 before the first run, and without vellum_session_options.profile. */
VELLUM_C_API size_t vellum_session_layer_count(const vellum_session* session);
VELLUM_C_API vellum_status vellum_session_layer(const vellum_session* session, size_t index, vellum_layer_time* time,
                                                vellum_error* error);

/* ---- Tuning ------------------------------------------------------------------------------------------------------- */

/* Fill it with vellum_tune_options_init(), then change what should differ. */
typedef struct vellum_tune_options {
  size_t size;         /* of this struct, as the caller was compiled */
  double seconds;      /* no further operator is measured after so many; a later call goes on; 0: no limit */
  int32_t again;       /* not 0: what was measured before is measured, too */
  int32_t storages;    /* 0: do not measure what should hold each tensor */
  /* NULL, or told what is done; step: "storages", "operators", "network". */
  void (*progress)(const char* step, size_t done, size_t total, void* user);
  void* progress_user;
} vellum_tune_options;

typedef struct vellum_tune_result {
  size_t size;                 /* of this struct, as the caller was compiled */
  double untuned_ms, tuned_ms;                               /* wall time of one inference */
  uint64_t untuned_weights_bytes, tuned_weights_bytes;       /* of device memory */
  double seconds;                                            /* the time that tuning took */
  int32_t complete;                                          /* 0: vellum_tune_options.seconds ran out */
  int32_t kept;                                              /* 0: the network became slower as a whole; nothing is kept */
} vellum_tune_result;

VELLUM_C_API void vellum_tune_options_init(vellum_tune_options* options);

/*
 * Tunes the network that a session with these options runs: measures on the device how each operator is computed fastest
 * and which storage holds the tensors best. Later sessions use the result, see vellum/tune.hpp. It is stored in the
 * device's cache folder, or as long as the device lives. `session_options`, `options` and `result` may be NULL.
 */
VELLUM_C_API vellum_status vellum_tune(const vellum_device* device, const vellum_model* model,
                                       const vellum_session_options* session_options, const vellum_tune_options* options,
                                       vellum_tune_result* result, vellum_error* error);
/* Deletes everything that was measured on the device. */
VELLUM_C_API vellum_status vellum_forget_tuning(const vellum_device* device, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_H */

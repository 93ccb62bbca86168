/*
 * Kernels: checks of a device's kernels, and reports on the machine code of a model's kernels. The C interface
 * of vellum/kernel_check.hpp and vellum/kernels.hpp, which define the terms. A part of vellum/vellum.h.
 */
#ifndef VELLUM_KERNELS_H
#define VELLUM_KERNELS_H

#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fill it with vellum_kernel_check_options_init(), then change what should differ. */
typedef struct vellum_kernel_check_options {
  size_t size;      /* of this struct, as the caller was compiled */
  const char* only; /* check only operations whose name begins with this, e.g. "Conv"; NULL: all */
  int32_t all;      /* not 0: every kernel candidate; 0: one of each algorithm */
  /* NULL, or called before each operator with the number checked so far. Return 0 to go on; else VELLUM_CANCELLED. */
  int32_t (*progress)(size_t done, size_t total, void* user);
  void* progress_user;
  uint32_t repetitions; /* of each kernel; 1 (the default) to 1,000,000: a result whose bits differ from those of the first fails */
} vellum_kernel_check_options;
VELLUM_C_API void vellum_kernel_check_options_init_sized(vellum_kernel_check_options* options, size_t size);
VELLUM_C_API void vellum_kernel_check_options_init(vellum_kernel_check_options* options);
#define vellum_kernel_check_options_init(options) \
  vellum_kernel_check_options_init_sized((options), sizeof(vellum_kernel_check_options))

/* One small operator, computed by one kernel and compared with the host. The strings are valid as long as the list. */
typedef struct vellum_kernel_check {
  size_t size;           /* of this struct, as the caller was compiled */
  const char* operation; /* "Conv 3x3" */
  const char* kernel;    /* "winograd 2x2"; empty if there is only one */
  vellum_precision precision;
  vellum_arithmetic arithmetic;
  vellum_storage storage; /* storage of its tensors */
  int32_t passed;         /* not 0: it was computed, and `difference` is at most `bound` */
  double difference;      /* the largest, relative to the largest magnitude of the host's result or to 1; may be NaN */
  double bound;
  const char* failure;    /* why it could not be computed; empty if it could */
} vellum_kernel_check;

typedef struct vellum_kernel_check_list vellum_kernel_check_list;
/*
 * Computes small operators of every kind that has kernels, in all storages and precisions, and compares them with the
 * host. Takes seconds on a GPU, minutes on a CPU. Returns VELLUM_OK even if kernels are wrong, VELLUM_NOT_FOUND if no
 * operation matches `only`, VELLUM_UNSUPPORTED in Vellum::runtime, which compiles no shaders, VELLUM_DEVICE_LOST if the
 * device is lost. `options` may be NULL.
 */
VELLUM_C_API vellum_status vellum_check_kernels(const vellum_device* device, const vellum_kernel_check_options* options,
                                                vellum_kernel_check_list** list, vellum_error* error);
/*
 * Checks the layers of a model: the host computes the whole network from random inputs (about a second for 100 million
 * multiplications), the device computes each operator that has a kernel, in the model's shapes and with the kernels of a
 * session with these options, and the results are compared. A vellum_kernel_check then is a layer;
 * vellum_kernel_check_options.only is a part of its name, and `all` has no effect. Returns the errors of
 * vellum_session_create() and of vellum_check_kernels(). `options` and `check_options` may be NULL.
 */
VELLUM_C_API vellum_status vellum_check_layers(const vellum_device* device, const vellum_model* model,
                                               const vellum_session_options* options,
                                               const vellum_kernel_check_options* check_options,
                                               vellum_kernel_check_list** list, vellum_error* error);
VELLUM_C_API void vellum_kernel_check_list_destroy(vellum_kernel_check_list* list);
VELLUM_C_API size_t vellum_kernel_check_list_count(const vellum_kernel_check_list* list);
VELLUM_C_API vellum_status vellum_kernel_check_list_get(const vellum_kernel_check_list* list, size_t index,
                                                        vellum_kernel_check* check, vellum_error* error);

typedef struct vellum_crash_list vellum_crash_list;
/*
 * The driver's work during which earlier processes ended or lost the device, such as "compiled shader 'conv_window'". This
 * work is not tried again: other kernels run in its place. Empty without a cache folder.
 */
VELLUM_C_API vellum_status vellum_get_crashes(const vellum_device* device, vellum_crash_list** list, vellum_error* error);
VELLUM_C_API void vellum_crash_list_destroy(vellum_crash_list* list);
VELLUM_C_API size_t vellum_crash_list_count(const vellum_crash_list* list);
/* NULL past the end. Valid as long as the list. */
VELLUM_C_API const char* vellum_crash_list_get(const vellum_crash_list* list, size_t index);
/*
 * Forgets crashes and all results of first-use checks on this device. Processes that begin afterwards, and sessions of this
 * device that are made afterwards, try again.
 */
VELLUM_C_API vellum_status vellum_forget_crashes(const vellum_device* device, vellum_error* error);
/*
 * Keeps the end of this process from being recorded as a crash of a driver. Call it before the process is ended on purpose
 * while other threads may use devices, such as in a thread that waits for SIGTERM. It covers the drivers' work at the time
 * of the call and all later work. Must not be called in a signal handler.
 */
VELLUM_C_API vellum_status vellum_discard_attempts(vellum_error* error);

/* Peak rates of a device, and the fixed costs of a dispatch. 0: unknown. */
typedef struct vellum_device_rates {
  size_t size;            /* of this struct, as the caller was compiled */
  double gigamacs_per_s;  /* fp32 multiply-accumulates */
  double gigabytes_per_s; /* device memory */
  uint32_t units;         /* each issues the instructions of one subgroup or more at a time */
  uint32_t lanes;         /* invocations that compute at the same time, in all units together */
  double latency_ns;      /* of a load that misses the first cache */
  double launch_us;       /* to start a dispatch */
  double barrier_us;      /* to drain the device before it, and to make its results visible */
} vellum_device_rates;
/* Rates from published figures of the device's chip. For an unknown chip *known is 0 and `rates` is not changed. */
VELLUM_C_API vellum_status vellum_device_known_rates(const vellum_device* device, vellum_device_rates* rates, int32_t* known,
                                                     vellum_error* error);

/* Fill it with vellum_kernel_report_options_init(), then change what should differ. */
typedef struct vellum_kernel_report_options {
  size_t size;                      /* of this struct, as the caller was compiled */
  const vellum_device_rates* rates; /* of the device; NULL: vellum_device_known_rates() */
  int32_t representations;          /* not 0: also report the code as text, megabytes for a network */
} vellum_kernel_report_options;
VELLUM_C_API void vellum_kernel_report_options_init_sized(vellum_kernel_report_options* options, size_t size);
VELLUM_C_API void vellum_kernel_report_options_init(vellum_kernel_report_options* options);
#define vellum_kernel_report_options_init(options) \
  vellum_kernel_report_options_init_sized((options), sizeof(vellum_kernel_report_options))

typedef struct vellum_kernel_define {
  const char* name;
  const char* value;
} vellum_kernel_define;

/* Strings and arrays of these structs are valid as long as the report. */
typedef struct vellum_kernel_pipeline {
  size_t size; /* of this struct, as the caller was compiled */
  const char* shader;
  const char* variant; /* `defines` as text, without those that describe tensors */
  const vellum_kernel_define* defines;
  size_t define_count;
  uint32_t workgroup_size[3];
  size_t code_count; /* for vellum_kernel_report_code(); several if the driver compiles for several subgroup sizes */
} vellum_kernel_pipeline;

/* One figure under the driver's own name. Boolean figures are 0 or 1. */
typedef struct vellum_kernel_statistic {
  const char* name;
  const char* description;
  double value;
} vellum_kernel_statistic;

/* An internal representation of a shader in the driver's compiler as text, such as its assembly. */
typedef struct vellum_kernel_representation {
  const char* name;
  const char* description;
  const char* text;
} vellum_kernel_representation;

/* The machine code of a pipeline. Figures that the driver does not report are NaN. */
typedef struct vellum_kernel_code {
  size_t size;                /* of this struct, as the caller was compiled */
  const char* name;           /* the driver's name: "Compute Shader" or "SIMD16 compute" */
  uint32_t subgroup_size;     /* 0: unknown */
  double registers;           /* of one invocation, in the driver's unit */
  double spills;              /* registers that did not fit, or the instructions that store them */
  double resident_subgroups;  /* the most subgroups that a SIMD unit, core or multiprocessor holds at a time */
  double shared_memory_bytes; /* of a workgroup */
  double instructions;        /* instructions in the code, not executed instructions */
  double cycles;              /* the driver's own estimate */
  const vellum_kernel_statistic* statistics; /* everything that the driver reports */
  size_t statistic_count;
  const vellum_kernel_representation* representations; /* with vellum_kernel_report_options.representations */
  size_t representation_count;
} vellum_kernel_code;

/* A dispatch, in execution order. Times are microseconds, NaN if the rates are unknown. */
typedef struct vellum_kernel_dispatch {
  size_t size;      /* of this struct, as the caller was compiled */
  const char* name; /* of the node */
  const char* op;   /* operator type; "Convert" for a layout conversion */
  size_t pipeline;  /* index for vellum_kernel_report_pipeline() */
  uint32_t workgroups[3];
  int32_t barrier;  /* not 0: it waits for dispatches before it */
  uint64_t invocations;
  uint64_t subgroups; /* 0 if the subgroup size is unknown */
  uint64_t macs;      /* multiply-accumulates without padding */
  uint64_t bytes;     /* bytes of the tensors that it binds, each counted once */
  double compute_us, memory_us; /* lower bounds from the device's peak rates */
  double predicted_us;          /* docs/gpu_compilers.md describes the model */
  double latency_us;            /* time of loads that wait for one another */
  double overhead_us;           /* time of launch and barrier */
  double steps;                 /* number of loads that wait for one another */
  double busy;                  /* share of the device's units that have work */
  double waves;                 /* subgroups among which a unit switches */
  double efficiency;            /* share of the peak rate that the kernel's loop is assumed to reach */
} vellum_kernel_dispatch;

typedef struct vellum_kernel_report vellum_kernel_report;
/*
 * Compiles every pipeline of a session with these options without the device's caches, and reports the driver's figures
 * and the predicted time of each dispatch. VELLUM_UNSUPPORTED if the driver lacks
 * VK_KHR_pipeline_executable_properties. `session_options` and `options` may be NULL.
 */
VELLUM_C_API vellum_status vellum_kernel_report_create(const vellum_device* device, const vellum_model* model,
                                                       const vellum_session_options* session_options,
                                                       const vellum_kernel_report_options* options,
                                                       vellum_kernel_report** report, vellum_error* error);
VELLUM_C_API void vellum_kernel_report_destroy(vellum_kernel_report* report);
/* The rates of the report. If there are none, *known is 0 and `rates` is not changed. */
VELLUM_C_API vellum_status vellum_kernel_report_rates(const vellum_kernel_report* report, vellum_device_rates* rates,
                                                      int32_t* known, vellum_error* error);
/* Pipelines in order of first use. */
VELLUM_C_API size_t vellum_kernel_report_pipeline_count(const vellum_kernel_report* report);
VELLUM_C_API vellum_status vellum_kernel_report_pipeline(const vellum_kernel_report* report, size_t index,
                                                         vellum_kernel_pipeline* pipeline, vellum_error* error);
VELLUM_C_API vellum_status vellum_kernel_report_code(const vellum_kernel_report* report, size_t pipeline, size_t index,
                                                     vellum_kernel_code* code, vellum_error* error);
VELLUM_C_API size_t vellum_kernel_report_dispatch_count(const vellum_kernel_report* report);
VELLUM_C_API vellum_status vellum_kernel_report_dispatch(const vellum_kernel_report* report, size_t index,
                                                         vellum_kernel_dispatch* dispatch, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_KERNELS_H */

/*
 * Memory and compilation stages of a session that is not made yet. A part of vellum/vellum.h.
 */
#ifndef VELLUM_ESTIMATE_H
#define VELLUM_ESTIMATE_H

#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes, see vellum/estimate.hpp. */
typedef struct vellum_memory_estimate {
  size_t size;                 /* of this struct, as the caller was compiled */
  uint64_t weights;
  uint64_t in_out;
  uint64_t intermediates;
  uint64_t workspace;
  uint64_t staging;
  uint64_t resident;
  uint64_t total;                 /* sum of the six members above and `state` */
  int driver_known;               /* 0: `resident` excludes a CPU driver's own memory, which the caps lack */
  uint64_t allocated_peak;        /* the peak of allocations from Vulkan, padding included */
  uint64_t shape_inference_total; /* naive estimate from shapes alone */
  /* The parts of `resident`. padding: alignment and padding. host: constants and copies, if host and device share
   * memory. driver_code, pipeline_code: code and data of a CPU driver, and the machine code of all pipelines; 0 if
   * driver_known is 0. */
  uint64_t padding, host, driver_code, pipeline_code;
  /* As passed to vkAllocateMemory; `intermediates` with workspace, `staging` at its peak. */
  uint64_t allocated_weights, allocated_in_out, allocated_intermediates, allocated_staging;
  uint64_t dispatches, pipelines;
  /* The range of `total`. Both are `total`, unless a CPU driver's memory was not measured on this processor
   * (vellum_calibrate_memory()), or only with much smaller or larger networks. */
  uint64_t total_least, total_most;
  uint64_t state;           /* inputs and outputs that stay on the device (vellum_session_options.state) */
  uint64_t allocated_state; /* as passed to vkAllocateMemory */
  /* One run by the performance model, with the waits for streamed weights, and the bytes of these weights; rates are
   * published or assumed. */
  double run_ms;
  uint64_t streamed_bytes;
} vellum_memory_estimate;

/*
 * Estimates the memory of a session with these options before it is made. Sizes in memory come from `device`; if it is
 * NULL, they are modelled from `caps`, the text of a caps file (`vellum devices --save-caps`); if both are NULL, from the
 * Android Baseline 2022 profile.
 */
VELLUM_C_API vellum_status vellum_estimate_memory(const vellum_model* model, const vellum_session_options* options,
                                                  const vellum_device* device, const char* caps,
                                                  vellum_memory_estimate* estimate, vellum_error* error);

/* Memory that was measured, in the categories of vellum_memory_estimate. */
typedef struct vellum_memory_measurement {
  size_t size; /* of this struct, as the caller was compiled */
  uint64_t weights, in_out, intermediates, workspace, staging, resident;
  uint64_t total;            /* sum of the six members above and `state` */
  uint64_t allocated_peak;   /* the peak of allocations from Vulkan, padding included */
  int32_t driver_included;   /* not 0: `resident` includes the driver itself */
  int32_t heap_known, process_known; /* 0: the driver does not report heap_bytes, the system not process_bytes */
  uint64_t heap_bytes;       /* memory of the process in the driver's heaps at the end of a run */
  uint64_t process_bytes;    /* growth of the whole process at its peak since this call began */
  uint64_t state;
} vellum_memory_measurement;

/* Measures memory: opens the device, loads the model in the file `model`, runs it twice with zeros and closes everything.
 * `options` and `device_options` may be NULL. */
VELLUM_C_API vellum_status vellum_measure_memory(const char* model, const vellum_session_options* options,
                                                 const vellum_device_options* device_options,
                                                 vellum_memory_measurement* measurement, vellum_error* error);

/* The process memory that a driver on the CPU takes, see docs/estimate.md. Operations are those of the
 * pipelines' shaders, with loops unrolled. */
typedef struct vellum_memory_calibration {
  size_t size; /* of this struct, as the caller was compiled */
  uint64_t driver_bytes;
  uint32_t bytes_per_operation, bytes_per_operation_of_largest; /* for all pipelines, and for the largest */
} vellum_memory_calibration;

/* Measures these figures on this machine, which takes seconds, and stores them in the cache folder of
 * `device_options`, for estimates for devices that are opened with this folder. VELLUM_INVALID_ARGUMENT in a
 * process that has used Vulkan before, VELLUM_UNSUPPORTED for a device with memory of its own. Disable Mesa's
 * shader cache (environment variable MESA_SHADER_CACHE_DISABLE=1), or the memory of its compiler is not
 * measured. `device_options` and `calibration` may be NULL. */
VELLUM_C_API vellum_status vellum_calibrate_memory(const vellum_device_options* device_options,
                                                   vellum_memory_calibration* calibration,
                                                   vellum_error* error);

/* Returns a compilation stage as text: "graph", "program", "plan" or "barriers". `device` and `caps` as above. */
VELLUM_C_API vellum_status vellum_describe(const vellum_model* model, const char* stage,
                                           const vellum_session_options* options, const vellum_device* device,
                                           const char* caps, vellum_text** text, vellum_error* error);

/* A line of bytes over a dimension of the inputs, such as the batch. */
typedef struct vellum_memory_line {
  const char* name;
  const int64_t* positions; /* positions of the points on the axis */
  const uint64_t* bytes;
  size_t point_count;
} vellum_memory_line;

/* Draws lines as a self-contained SVG document. */
VELLUM_C_API vellum_status vellum_memory_curve_svg(const char* title, const char* axis, const vellum_memory_line* lines,
                                                   size_t line_count, vellum_text** svg, vellum_error* error);

/* The trade-off between device memory and time; vellum/memory_frontier.hpp defines the terms. */
typedef struct vellum_frontier_options {
  size_t size;             /* of this struct, as the caller was compiled */
  const uint64_t* budgets; /* bytes; NULL: from the smallest that suffices to the bytes without a budget */
  size_t budget_count;
  /* NULL, or called before the first point and after each. */
  void (*progress)(size_t done, size_t total, void* user);
  void* progress_user;
} vellum_frontier_options;
VELLUM_C_API void vellum_frontier_options_init_sized(vellum_frontier_options* options, size_t size);
#define vellum_frontier_options_init(options) \
  vellum_frontier_options_init_sized((options), sizeof(vellum_frontier_options))

typedef struct vellum_frontier_point {
  size_t size;             /* of this struct, as the caller was compiled */
  uint64_t budget;         /* for vellum_session_options.memory_budget */
  uint64_t bytes;          /* peak of what a session within this budget allocates from Vulkan */
  uint64_t weights_bytes;  /* part of `bytes`: weights */
  uint64_t streamed_bytes; /* weights copied to the device in every run; 0: all weights are resident */
  double predicted_ms;     /* time of a run from published or assumed rates: to compare points */
} vellum_frontier_point;

typedef struct vellum_memory_frontier vellum_memory_frontier;
/*
 * Finds the frontier of sessions with these options, for one combination of input shapes. `device` and `caps` as for
 * vellum_estimate_memory(). Budgets that are too small for the model are left out. `options` and `frontier_options` may
 * be NULL. VELLUM_INVALID_ARGUMENT for options that exclude a memory budget, and if the shape of an input is open.
 */
VELLUM_C_API vellum_status vellum_memory_frontier_create(const vellum_model* model, const vellum_session_options* options,
                                                         const vellum_device* device, const char* caps,
                                                         const vellum_frontier_options* frontier_options,
                                                         vellum_memory_frontier** frontier, vellum_error* error);
VELLUM_C_API void vellum_memory_frontier_destroy(vellum_memory_frontier* frontier);
/* Points in order of budgets. */
VELLUM_C_API size_t vellum_memory_frontier_count(const vellum_memory_frontier* frontier);
VELLUM_C_API vellum_status vellum_memory_frontier_point(const vellum_memory_frontier* frontier, size_t index,
                                                        vellum_frontier_point* point, vellum_error* error);
/* The point below which saving memory costs much time. `milliseconds`: measured time of each point; NULL: as predicted. */
VELLUM_C_API vellum_status vellum_memory_frontier_knee(const vellum_memory_frontier* frontier, const double* milliseconds,
                                                       size_t* index, vellum_error* error);
/* Draws milliseconds over budgets: a self-contained SVG document. `measured`: milliseconds of each point, for a second line,
 * or NULL. VELLUM_INVALID_ARGUMENT for a frontier without points. */
VELLUM_C_API vellum_status vellum_memory_frontier_svg(const vellum_memory_frontier* frontier, const char* title,
                                                      const double* measured, vellum_text** svg, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_ESTIMATE_H */

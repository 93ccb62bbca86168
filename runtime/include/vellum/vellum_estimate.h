/*
 * Memory and stages of a session before it is made. A part of vellum/vellum.h.
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
  uint64_t total;                 /* of the six */
  int driver_known;               /* 0: `resident` excludes a CPU driver's own memory, which the caps lack */
  uint64_t allocated_peak;        /* the peak of allocations from Vulkan, padding included */
  uint64_t shape_inference_total; /* the estimate from shapes alone */
  /* What `resident` is: alignment and padding; constants and copies in a host memory that the device shares; a CPU driver's
   * own code and data, and the machine code of all pipelines (0 where driver_known is 0). */
  uint64_t padding, host, driver_code, pipeline_code;
  /* As passed to vkAllocateMemory; `intermediates` with workspace, `staging` at its peak. */
  uint64_t allocated_weights, allocated_in_out, allocated_intermediates, allocated_staging;
  uint64_t dispatches, pipelines;
  /* The bounds of `total`: both are `total`, unless a CPU driver's own memory was not measured on this
   * processor (vellum_calibrate_memory()), or only for much smaller or larger networks. */
  uint64_t total_least, total_most;
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
  uint64_t total;            /* of the six */
  uint64_t allocated_peak;   /* the peak of allocations from Vulkan, padding included */
  int32_t driver_included;   /* not 0: `resident` includes the driver itself */
  int32_t heap_known, process_known; /* 0: the driver, or the system, does not report the next two */
  uint64_t heap_bytes;       /* of the process in the driver's heaps, at the end of a run */
  uint64_t process_bytes;    /* the growth of the whole process at its peak, from this call on */
} vellum_memory_measurement;

/* Measures memory: opens the device, loads the model in the file `model`, runs it twice with zeros and closes everything.
 * `options` and `device_options` may be NULL. */
VELLUM_C_API vellum_status vellum_measure_memory(const char* model, const vellum_session_options* options,
                                                 const vellum_device_options* device_options,
                                                 vellum_memory_measurement* measurement, vellum_error* error);

/* What a driver on the CPU takes of a process, see docs/estimate.md. Operations are those of the pipelines'
 * shaders, with loops unrolled. */
typedef struct vellum_memory_calibration {
  size_t size; /* of this struct, as the caller was compiled */
  uint64_t driver_bytes;
  uint32_t bytes_per_operation, bytes_per_operation_of_largest; /* of all pipelines, and of the largest */
} vellum_memory_calibration;

/* Measures that on this machine, in seconds, and stores it in the cache folder of `device_options`: estimates
 * for devices that are opened with this folder use it. Only a process that has not used Vulkan yet can:
 * VELLUM_INVALID_ARGUMENT in any other. VELLUM_UNSUPPORTED for a device with memory of its own. The
 * environment variable MESA_SHADER_CACHE_DISABLE=1 keeps Mesa's own cache from hiding what its compiler
 * takes. `device_options` and `calibration` may be NULL. */
VELLUM_C_API vellum_status vellum_calibrate_memory(const vellum_device_options* device_options,
                                                   vellum_memory_calibration* calibration,
                                                   vellum_error* error);

/* A stage between model and session as text: "graph", "program", "plan" or "barriers". `device` and `caps` as above. */
VELLUM_C_API vellum_status vellum_describe(const vellum_model* model, const char* stage,
                                           const vellum_session_options* options, const vellum_device* device,
                                           const char* caps, vellum_text** text, vellum_error* error);

/* Bytes over a dimension of the inputs, such as the batch. */
typedef struct vellum_memory_line {
  const char* name;
  const int64_t* positions; /* of the points on the axis */
  const uint64_t* bytes;
  size_t point_count;
} vellum_memory_line;

/* Draws such lines: a self-contained SVG document. */
VELLUM_C_API vellum_status vellum_memory_curve_svg(const char* title, const char* axis, const vellum_memory_line* lines,
                                                   size_t line_count, vellum_text** svg, vellum_error* error);

/* How fast a model runs within how many bytes of device memory; see vellum/memory_frontier.hpp, which defines the terms. */
typedef struct vellum_frontier_options {
  size_t size;             /* of this struct, as the caller was compiled */
  const uint64_t* budgets; /* bytes; NULL: from the smallest that suffices to what the session's options take without one */
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
  uint64_t bytes;          /* the most that a session within this budget allocates from Vulkan at a time */
  uint64_t weights_bytes;  /* of these, for weights */
  uint64_t streamed_bytes; /* of weights, copied to the device in every run; 0: all weights are resident */
  double predicted_ms;     /* a run; for comparing points, the device's rates are published or assumed */
} vellum_frontier_point;

typedef struct vellum_memory_frontier vellum_memory_frontier;
/*
 * Finds the frontier of sessions with these options, for one combination of input shapes. `device` and `caps` as for
 * vellum_estimate_memory(). Budgets that are too small for the model are left out. `options` and `frontier_options` may be
 * NULL. VELLUM_INVALID_ARGUMENT with what a memory budget excludes, and if the shape of an input is open.
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
/* The point where less memory begins to cost much time. `milliseconds`: of each point, as measured; NULL: as predicted. */
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

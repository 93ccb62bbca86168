/*
 * Memory and time of a session. A part of vellum/vellum.h.
 */
#ifndef VELLUM_REPORT_H
#define VELLUM_REPORT_H

#include "vellum/vellum_kernels.h"
#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes. */
typedef struct vellum_memory_report {
  size_t size;                 /* of this struct, as the caller was compiled */
  size_t object_count;
  uint64_t naive_bytes;       /* bytes if every intermediate tensor had memory of its own */
  uint64_t planned_bytes;     /* the sum of all allocations that hold objects */
  uint64_t lower_bound_bytes; /* no plan of this mode can be smaller */
  uint64_t allocated_bytes;   /* intermediates, allocated from Vulkan */
  uint64_t weights_bytes;     /* weights, allocated from Vulkan */
  uint64_t in_out_bytes;      /* inputs and outputs, allocated from Vulkan */
  uint64_t streamed_weights_bytes; /* weights copied to the device in every run; 0 if none stream */
  uint32_t in_flight;         /* allocated_bytes and in_out_bytes are for this many runs together */
  const char* mode;           /* "shared-objects", "offsets", "naive"; empty before the session is prepared */
  const char* strategy;       /* of the planner */
  size_t tensor_count;        /* intermediate and workspace tensors */
  const uint64_t* arenas;     /* bytes of each allocation that holds objects */
  size_t arena_count;
  uint64_t peak_weights_bytes;  /* the peak of weights_bytes */
  uint64_t total_weights_bytes; /* all weights, even if they stream, without padding */
  uint64_t memory_budget;       /* vellum_session_options.memory_budget */
  uint64_t budget_used_bytes;   /* part of the budget that is allocated now; 0 without a budget */
  uint64_t budget_peak_bytes;   /* peak of budget_used_bytes, staging included */
  uint64_t state_bytes;         /* states of the session, allocated from Vulkan */
} vellum_memory_report;

/*
 * One device image or buffer that holds intermediate tensors in turn; with VELLUM_MEMORY_OFFSETS it holds one. The
 * strings are valid until the next run, vellum_session_prepare() or vellum_session_trim().
 */
typedef struct vellum_object_report {
  size_t size;                 /* of this struct, as the caller was compiled */
  const char* kind;           /* "image2d", "image3d", "buffer" */
  const char* format;         /* "rgba32f", "rgba16f", "rgba8ui"; empty for buffers */
  uint32_t extent[3];         /* texels: width, height, depth; images only */
  uint32_t reuse_count;       /* tensors that it holds in one inference */
  uint64_t bytes;             /* of device memory, padding included */
  const char* const* tensors; /* reuse_count names, in order of first use */
  uint32_t arena;             /* index into vellum_memory_report.arenas */
  uint64_t arena_offset;      /* bytes from the start of that arena */
} vellum_object_report;

/* The memory of a session. Bytes are those at the time of the call; other sessions of its pool or model may change
 * them. Pointers are valid until the next run, vellum_session_prepare() or vellum_session_trim(). */
VELLUM_C_API vellum_status vellum_session_memory(const vellum_session* session, vellum_memory_report* report,
                                                 vellum_error* error);
VELLUM_C_API vellum_status vellum_session_object(const vellum_session* session, size_t index,
                                                 vellum_object_report* report, vellum_error* error);

/* An intermediate or workspace tensor and its memory. Valid as long as the plan. */
typedef struct vellum_tensor_report {
  size_t size;      /* of this struct, as the caller was compiled */
  const char* name;
  const char* op;   /* operator type of the first task that writes it */
  const char* role; /* "intermediate", "workspace" */
  const int64_t* dims; /* outermost first */
  size_t rank;
  uint32_t object;  /* index of its object */
  uint64_t offset;  /* bytes from the start of that object */
  int64_t first_task, last_task; /* both inclusive; indices as of vellum_session_layer() */
  uint64_t bytes;   /* without the device's padding */
} vellum_tensor_report;

/* A memory plan: which object holds which tensors, when and where. */
typedef struct vellum_memory_plan vellum_memory_plan;
/* A copy of the plan of a session for the input shapes of its last run. It has no objects before the session is
 * prepared. */
VELLUM_C_API vellum_status vellum_memory_plan_of_session(const vellum_session* session, vellum_memory_plan** plan,
                                                         vellum_error* error);
/* The plan that a session with these options would use, without weights, inputs and outputs. Sizes in memory come from
 * `device`; if it is NULL, they are modelled from `caps`, the text of a caps file; if both are NULL, from the Android
 * Baseline 2022 profile. */
VELLUM_C_API vellum_status vellum_memory_plan_create(const vellum_model* model, const vellum_session_options* options,
                                                     const vellum_device* device, const char* caps,
                                                     vellum_memory_plan** plan, vellum_error* error);
VELLUM_C_API void vellum_memory_plan_destroy(vellum_memory_plan* plan);
VELLUM_C_API vellum_status vellum_memory_plan_report(const vellum_memory_plan* plan, vellum_memory_report* report,
                                                     vellum_error* error);
VELLUM_C_API vellum_status vellum_memory_plan_object(const vellum_memory_plan* plan, size_t index,
                                                     vellum_object_report* report, vellum_error* error);
VELLUM_C_API vellum_status vellum_memory_plan_tensor(const vellum_memory_plan* plan, size_t index,
                                                     vellum_tensor_report* report, vellum_error* error);
/* Draws the plan: tasks from left to right, addresses upwards, a rectangle for each tensor. A self-contained SVG document,
 * 1000 units wide. VELLUM_INVALID_ARGUMENT for a plan without objects. */
VELLUM_C_API vellum_status vellum_memory_plan_svg(const vellum_memory_plan* plan, const char* title, vellum_text** svg,
                                                  vellum_error* error);

/* A task of the last run, in execution order. The strings are valid until the next vellum_session_run() or
 * vellum_session_layer_count(). */
typedef struct vellum_layer_time {
  size_t size;                 /* of this struct, as the caller was compiled */
  const char* name;   /* of the node */
  const char* op;     /* operator type; "Convert" for a layout conversion */
  const char* shader; /* empty: ran on the host */
  double gpu_ms;      /* NaN if the device has no timestamps, and on the host */
  double begin_ms;    /* relative to the first task's begin; NaN as gpu_ms */
  const char* storage; /* storage of its output: "image2d", "image3d", "buffer"; empty on the host */
  uint32_t workgroups[3]; /* dispatched; 0 on the host */
} vellum_layer_time;

/* Reads the times of the last run, for vellum_session_layer(); call it again after a submitted run is done. 0 before the
 * first run, and without vellum_session_options.profile. */
VELLUM_C_API size_t vellum_session_layer_count(const vellum_session* session);
VELLUM_C_API vellum_status vellum_session_layer(const vellum_session* session, size_t index, vellum_layer_time* time,
                                                vellum_error* error);

/* Fill it with vellum_profile_options_init(), then change what should differ. */
typedef struct vellum_profile_options {
  size_t size;                 /* of this struct, as the caller was compiled */
  const char* model;           /* its name in the document */
  const char* const* subtitle; /* device, options: shown beside the title */
  size_t subtitle_count;
  const double* layer_ms; /* time of each layer, such as medians over several runs; NULL: those of the last run */
  size_t layer_ms_count;
  const vellum_kernel_report* kernels; /* a kernel report for the page; NULL: left out */
} vellum_profile_options;
VELLUM_C_API void vellum_profile_options_init_sized(vellum_profile_options* options, size_t size);
VELLUM_C_API void vellum_profile_options_init(vellum_profile_options* options);
#define vellum_profile_options_init(options) vellum_profile_options_init_sized((options), sizeof(vellum_profile_options))

/* A self-contained HTML page of the last run of a session with vellum_session_options.profile: the memory map, shared
 * objects, bytes by category, time per layer. `options` may be NULL. VELLUM_INVALID_ARGUMENT before the first run. */
VELLUM_C_API vellum_status vellum_session_profile_html(const vellum_session* session,
                                                       const vellum_profile_options* options, vellum_text** html,
                                                       vellum_error* error);
/* Writes a trace in Chrome's trace event format (JSON), which Perfetto reads. */
VELLUM_C_API vellum_status vellum_session_profile_trace(const vellum_session* session,
                                                        const vellum_profile_options* options, vellum_text** trace,
                                                        vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_REPORT_H */

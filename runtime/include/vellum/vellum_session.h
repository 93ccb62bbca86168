/*
 * Sessions: a model prepared on a device. A part of vellum/vellum.h.
 */
#ifndef VELLUM_SESSION_H
#define VELLUM_SESSION_H

#include "vellum/vellum_device.h"
#include "vellum/vellum_model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vellum_session vellum_session;

typedef enum vellum_precision { VELLUM_FP32 = 0, VELLUM_FP16 = 1 } vellum_precision;
/* How operators with constant weights multiply values that are stored in fp16; accumulators are fp32 in any case. */
typedef enum vellum_arithmetic {
  VELLUM_ARITHMETIC_FP32 = 0,
  VELLUM_ARITHMETIC_FP16 = 1, /* products in fp16: only with VELLUM_FP16, on devices with shaderFloat16 */
  VELLUM_ARITHMETIC_AUTO = 2  /* products in fp16 where vellum_tune() measured it to be faster */
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
  VELLUM_WINOGRAD_AUTO = 0, /* F2 or F4, only in convolutions where vellum_tune() measured it to be faster */
  VELLUM_WINOGRAD_OFF = 1,
  VELLUM_WINOGRAD_F2 = 2, /* 2.25 times fewer multiplications, 1.8 times the weights, where predicted to be faster */
  VELLUM_WINOGRAD_F4 = 3  /* 4 times fewer multiplications, 4 times the weights, less accurate; only in fp32 */
} vellum_winograd;

/* Precision of states that are caches of keys and values. */
typedef enum vellum_state_precision {
  VELLUM_STATE_PRECISION_AUTO = 0, /* that of other tensors */
  VELLUM_STATE_PRECISION_INT8 = 1  /* 8 bits with a scale for each token and head */
} vellum_state_precision;

#define VELLUM_SUBMIT_MS_AUTO UINT32_MAX

/* Decides whether a run may begin while another run of the same pool is under way. */
typedef enum vellum_pool_overlap {
  VELLUM_POOL_SERIALISE = 0, /* the device executes them one after the other */
  VELLUM_POOL_REFUSE = 1     /* VELLUM_INVALID_ARGUMENT */
} vellum_pool_overlap;

/*
 * Device memory that sessions share for their intermediate tensors, for networks that run one after another;
 * see vellum/memory_pool.hpp. Sessions keep the pool alive, also after it is destroyed.
 */
typedef struct vellum_memory_pool vellum_memory_pool;
VELLUM_C_API vellum_status vellum_memory_pool_create(const vellum_device* device, vellum_pool_overlap overlap,
                                                     vellum_memory_pool** pool, vellum_error* error);
VELLUM_C_API void vellum_memory_pool_destroy(vellum_memory_pool* pool);
/* The device memory that the pool has now. */
VELLUM_C_API vellum_status vellum_memory_pool_bytes(const vellum_memory_pool* pool, uint64_t* bytes, vellum_error* error);
/* Frees the memory, except what runs under way use. The next run of a session allocates it again. */
VELLUM_C_API vellum_status vellum_memory_pool_trim(const vellum_memory_pool* pool, vellum_error* error);

/* Fill it with vellum_session_options_init(), then change what should differ. */
typedef struct vellum_session_options {
  size_t size;                 /* of this struct, as the caller was compiled */
  vellum_precision precision;  /* precision of stored intermediates and weights */
  vellum_storage storage;      /* of intermediate tensors */
  vellum_memory memory;        /* how intermediate tensors share memory */
  const char* strategy;        /* of the planner, a name from docs/planner.md; NULL: "best" */
  const vellum_input_shape* input_shapes;
  size_t input_shape_count;
  uint32_t tasks_per_submit;   /* 0: no limit; N: a submit ends after N tasks */
  int32_t profile;             /* not 0: GPU timestamps, for vellum_session_layer() */
  uint32_t cached_shapes;      /* combinations of input shapes for which a session stays prepared; at least 1 */
  uint32_t search_ms;          /* milliseconds to search for a smaller plan; 0: no search */
  /* Rewrites that reduce memory, with the same results bit for bit; 0 disables one. */
  int32_t in_place;            /* elementwise operators may overwrite an input that nothing reads afterwards */
  int32_t views;               /* concatenations and splits of buffers need no copy */
  int32_t reorder;             /* tasks may run in another order than the model's */
  uint64_t weights_budget;     /* bytes of device memory for weights, which then stream layer by layer; 0: no budget */
  vellum_winograd winograd;    /* trades memory for speed in 3x3 convolutions; off with weights_budget */
  uint32_t in_flight;          /* runs of vellum_session_submit() that may be under way at once; each has its own tensors; 1 */
  int32_t tuned;               /* 0: ignore the measurements of vellum_tune() */
  vellum_arithmetic arithmetic;
  int32_t check_finite;        /* not 0: NaN and infinities in inputs and outputs are errors */
  const char* const* disabled_passes; /* names of graph passes to skip, to find faults; docs/models.md */
  size_t disabled_pass_count;
  uint32_t max_submit_ms;      /* predicted work of a run that may be pending at a time; 0: no limit; the default,
                                  VELLUM_SUBMIT_MS_AUTO: 16 on GPUs that may serve a display, else no limit */
  const vellum_memory_pool* memory_pool; /* for the intermediate tensors; NULL: the session allocates its own memory */
  uint64_t memory_budget;      /* bytes of device memory for everything that the session allocates, never exceeded: it uses
                                  the fastest configuration that fits, else VELLUM_OUT_OF_MEMORY; 0: no budget. Not with
                                  weights_budget or memory_pool */
  int32_t budget_allows_fp16;  /* not 0: memory_budget may choose VELLUM_FP16 */
  const vellum_shape_values* input_values; /* values of inputs that decide shapes; estimates, plans and bundles need all of
                                              them; a session takes missing ones from its first run */
  size_t input_value_count;
  int32_t host_fallback;       /* 0: a model with operators that have no kernel is VELLUM_UNSUPPORTED; else they run on the host */
  const char* state;           /* SessionOptions::state: "INPUT=OUTPUT;INPUT=OUTPUT" or "auto"; NULL or empty: none */
  uint32_t repeat_every;       /* N: repeat every Nth run; outputs with other bits are VELLUM_INTERNAL; 0: none. Not with state */
  uint32_t state_capacity;     /* most tokens in states that a model concatenates with new tokens; 0: such states are refused */
  vellum_state_precision state_precision; /* of caches of keys and values */
} vellum_session_options;

/* The defaults. */
VELLUM_C_API void vellum_session_options_init_sized(vellum_session_options* options, size_t size);
VELLUM_C_API void vellum_session_options_init(vellum_session_options* options);
#define vellum_session_options_init(options) vellum_session_options_init_sized((options), sizeof(vellum_session_options))

/*
 * Makes a session: plans, allocates, compiles and records. If the shape of an input is neither fixed by the model nor
 * given in `options`, all this happens at the first run. Sessions of one model on one device share weights. `options`
 * may be NULL for the defaults.
 */
VELLUM_C_API vellum_status vellum_session_create(const vellum_device* device, const vellum_model* model,
                                                 const vellum_session_options* options, vellum_session** session,
                                                 vellum_error* error);
VELLUM_C_API void vellum_session_destroy(vellum_session* session);

/* The names of the graph passes for vellum_session_options.disabled_passes, one on each line. */
VELLUM_C_API vellum_status vellum_graph_passes(vellum_text** names, vellum_error* error);

/* Figures of one run of a prepared session. */
typedef struct vellum_session_counts {
  size_t size; /* of this struct, as the caller was compiled */
  size_t dispatches;
  size_t pipelines; /* distinct pipelines */
  size_t barriers;
} vellum_session_counts;
VELLUM_C_API vellum_status vellum_session_get_counts(const vellum_session* session, vellum_session_counts* counts,
                                                     vellum_error* error);

/* Warnings, e.g. about operators that run on the host; valid until the next run or vellum_session_prepare(). */
VELLUM_C_API size_t vellum_session_warning_count(const vellum_session* session);
/* Empty if `index` is out of range. */
VELLUM_C_API const char* vellum_session_warning(const vellum_session* session, size_t index);

/*
 * A session that is being made on another thread, see SessionCreation in vellum/session.hpp. One thread at a
 * time, except for progress and cancel.
 */
typedef struct vellum_session_creation vellum_session_creation;
VELLUM_C_API vellum_status vellum_session_create_async(const vellum_device* device, const vellum_model* model,
                                                       const vellum_session_options* options,
                                                       vellum_session_creation** creation, vellum_error* error);
/* The number of pipelines that are ready, and their total, which is 0 until the network is compiled. Either may be NULL. */
VELLUM_C_API vellum_status vellum_session_creation_progress(const vellum_session_creation* creation, size_t* ready,
                                                            size_t* total, vellum_error* error);
/* Waits at most `milliseconds`, then sets *done to not 0 if vellum_session_creation_get() would return at once. */
VELLUM_C_API vellum_status vellum_session_creation_wait_for(const vellum_session_creation* creation,
                                                            uint32_t milliseconds, int32_t* done, vellum_error* error);
/* Returns at once; vellum_session_creation_get() then returns VELLUM_CANCELLED, unless the session was ready. */
VELLUM_C_API vellum_status vellum_session_creation_cancel(const vellum_session_creation* creation, vellum_error* error);
/* Waits, then returns the session or the error of its creation. May be called once. */
VELLUM_C_API vellum_status vellum_session_creation_get(vellum_session_creation* creation, vellum_session** session,
                                                       vellum_error* error);
/* Cancels the creation, and waits for the thread. */
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
/* The memory that vellum_session_trim() frees. */
typedef enum vellum_trim_level {
  VELLUM_TRIM_INTERMEDIATES = 0, /* intermediate tensors, and everything that belongs to earlier input shapes */
  VELLUM_TRIM_WEIGHTS = 1        /* also the weights, unless they stream or another session uses them */
} vellum_trim_level;
/* Waits for all runs under way and frees memory, for Android's onTrimMemory() and the like. The next run allocates it
 * again. Inputs and outputs keep their values. */
VELLUM_C_API vellum_status vellum_session_trim(vellum_session* session, vellum_trim_level level, vellum_error* error);
/* Copies an output of the last run. `byte_count` must be the output's byte_size. */
VELLUM_C_API vellum_status vellum_session_get_output(const vellum_session* session, const char* name, void* values,
                                                     size_t byte_count, vellum_error* error);

/* Copies an output of the last run to a new tensor, for outputs of any size. */
VELLUM_C_API vellum_status vellum_session_output_tensor(const vellum_session* session, const char* name,
                                                        vellum_tensor** tensor, vellum_error* error);

/* An input that is state, and the output that each run leaves in it (vellum_session_options.state). */
typedef struct vellum_state_info {
  size_t size;         /* of this struct, as the caller was compiled */
  const char* input;   /* tensor names, valid until the session's next run or vellum_session_prepare() */
  const char* output;
  const int64_t* dims; /* outermost first; -1: open; valid as long as the names */
  size_t rank;
  vellum_dtype dtype;
  size_t byte_size; /* bytes of all values; 0 while a dimension is open */
} vellum_state_info;

/* States are listed as inputs and outputs too, but functions for these refuse them: no values pass through the host. */
VELLUM_C_API size_t vellum_session_state_count(const vellum_session* session);
VELLUM_C_API vellum_status vellum_session_state(const vellum_session* session, size_t index, vellum_state_info* info,
                                                vellum_error* error);
/* Sets all states to the model's initial values, or to zeros if it has none. */
VELLUM_C_API vellum_status vellum_session_reset_state(vellum_session* session, vellum_error* error);
/* Copy one state to and from the host. `name`: of its input or output; `byte_count`: its byte_size. */
VELLUM_C_API vellum_status vellum_session_get_state(const vellum_session* session, const char* name, void* values,
                                                    size_t byte_count, vellum_error* error);
VELLUM_C_API vellum_status vellum_session_set_state(vellum_session* session, const char* name, const void* values,
                                                    size_t byte_count, vellum_error* error);
/* A copy of all states in device memory of its own. */
typedef struct vellum_saved_state vellum_saved_state;
VELLUM_C_API vellum_status vellum_session_save_state(const vellum_session* session, vellum_saved_state** saved,
                                                     vellum_error* error);
/* Copies saved states back on the device, also to another session of the device whose states have the same types and shapes. */
VELLUM_C_API vellum_status vellum_session_restore_state(vellum_session* session, const vellum_saved_state* saved,
                                                        vellum_error* error);
VELLUM_C_API void vellum_saved_state_destroy(vellum_saved_state* saved);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_SESSION_H */

/*
 * Tuning: measures the fastest kernel of each operator on a device. A part of vellum/vellum.h.
 */
#ifndef VELLUM_TUNE_H
#define VELLUM_TUNE_H

#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fill it with vellum_tune_options_init(), then change what should differ. */
typedef struct vellum_tune_options {
  size_t size;         /* of this struct, as the caller was compiled */
  double seconds;      /* after this time no further operator is measured; a later call continues; 0: no limit */
  int32_t again;       /* not 0: measure again what was measured before */
  int32_t storages;    /* 0: do not measure the storage of tensors */
  /* NULL, or called with the progress; step: "storages", "operators", "network". */
  void (*progress)(const char* step, size_t done, size_t total, void* user);
  void* progress_user;
  /* NULL, or called at each step, even if `progress` is NULL. Anything but 0 ends vellum_tune() with VELLUM_CANCELLED,
   * and the measurements of this call are discarded. */
  int32_t (*should_stop)(void* user);
  void* should_stop_user;
} vellum_tune_options;

typedef struct vellum_tune_result {
  size_t size;                 /* of this struct, as the caller was compiled */
  double untuned_ms, tuned_ms;                               /* wall time of one inference */
  uint64_t untuned_weights_bytes, tuned_weights_bytes;       /* of device memory */
  double seconds;                                            /* the time that tuning took */
  int32_t complete;                                          /* 0: vellum_tune_options.seconds ran out */
  int32_t kept;                                              /* 0: the whole network became slower; the choices were discarded */
  const char* storage; /* resulting storage of the tensors: "buffer", "image2d", "image3d" or "mixed" */
  size_t operator_count, measured_count; /* distinct operators, and those that this call measured */
} vellum_tune_result;

VELLUM_C_API void vellum_tune_options_init_sized(vellum_tune_options* options, size_t size);
VELLUM_C_API void vellum_tune_options_init(vellum_tune_options* options);
#define vellum_tune_options_init(options) vellum_tune_options_init_sized((options), sizeof(vellum_tune_options))

/*
 * Tunes the network that a session with these options runs: measures on the device the fastest kernel of each operator
 * and the best storage of the tensors. Later sessions use the result, see vellum/tune.hpp. It is stored in the device's
 * cache folder; without one, in the device object. `session_options`, `options` and `result` may be NULL.
 */
VELLUM_C_API vellum_status vellum_tune(const vellum_device* device, const vellum_model* model,
                                       const vellum_session_options* session_options, const vellum_tune_options* options,
                                       vellum_tune_result* result, vellum_error* error);
/* Deletes everything that was measured on the device. */
VELLUM_C_API vellum_status vellum_forget_tuning(const vellum_device* device, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_TUNE_H */

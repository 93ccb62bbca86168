/*
 * Tuning: how operators are computed fastest on a device. A part of vellum/vellum.h.
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
  double seconds;      /* after these no further operator is measured; a later call continues; 0: no limit */
  int32_t again;       /* not 0: what was measured before is measured, too */
  int32_t storages;    /* 0: do not measure what should hold each tensor */
  /* NULL, or told what is done; step: "storages", "operators", "network". */
  void (*progress)(const char* step, size_t done, size_t total, void* user);
  void* progress_user;
  /* NULL, or asked with each step of `progress`, also without it: not 0 ends vellum_tune() with VELLUM_CANCELLED. Nothing
   * that this call measured is kept then. */
  int32_t (*should_stop)(void* user);
  void* should_stop_user;
} vellum_tune_options;

typedef struct vellum_tune_result {
  size_t size;                 /* of this struct, as the caller was compiled */
  double untuned_ms, tuned_ms;                               /* wall time of one inference */
  uint64_t untuned_weights_bytes, tuned_weights_bytes;       /* of device memory */
  double seconds;                                            /* the time that tuning took */
  int32_t complete;                                          /* 0: vellum_tune_options.seconds ran out */
  int32_t kept;                                              /* 0: the network became slower as a whole; nothing is kept */
  const char* storage; /* of the tensors now: "buffer", "image2d", "image3d" or "mixed" */
  size_t operator_count, measured_count; /* that differ, and those of them that this call measured */
} vellum_tune_result;

VELLUM_C_API void vellum_tune_options_init_sized(vellum_tune_options* options, size_t size);
VELLUM_C_API void vellum_tune_options_init(vellum_tune_options* options);
#define vellum_tune_options_init(options) vellum_tune_options_init_sized((options), sizeof(vellum_tune_options))

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

#endif /* VELLUM_TUNE_H */

/*
 * Bundles: a model in one file with compiled shaders and prepacked weights. A part of vellum/vellum.h.
 */
#ifndef VELLUM_BUNDLE_H
#define VELLUM_BUNDLE_H

#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of vellum_write_bundle(). */
typedef struct vellum_bundle_summary {
  size_t size;            /* of this struct, as the caller was compiled */
  size_t shaders;         /* variants that were compiled */
  size_t weights;         /* weights that were prepacked */
  uint64_t weights_bytes; /* bytes of the prepacked weights */
  uint64_t file_bytes;
} vellum_bundle_summary;

/*
 * Writes a bundle of the model in the file `model` to `file`, whose folder must exist, for sessions with these options;
 * see vellum/pack.hpp. The bundle is for `device`; if that is NULL, for the device that `caps` describes (the text of a
 * caps file); if both are NULL, for the Android Baseline 2022 profile. `options` and `summary` may be NULL.
 */
VELLUM_C_API vellum_status vellum_write_bundle(const char* model, const char* file, const vellum_device* device,
                                               const char* caps, const vellum_session_options* options,
                                               vellum_bundle_summary* summary, vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_BUNDLE_H */

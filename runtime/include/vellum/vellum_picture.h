/*
 * Outputs of a model as pictures in bytes: the C interface of vellum/picture.hpp, which defines the terms.
 * docs/embedding.md explains it.
 *
 *   static const uint8_t green[] = {0, 177, 64, 255, 0, 177, 64, 0};
 *   vellum_picture_output wall;
 *   vellum_picture_output_init(&wall);
 *   wall.palette = green, wall.palette_colors = 2, wall.over = "image";
 *   vellum_model_with_picture(framed, "mask", &wall, &pictured, &error);
 *   ... vellum_session_create(device, pictured, ...), vellum_session_run()
 *   vellum_session_get_output(session, "mask", rgba, 4 * width * height, &error);
 */
#ifndef VELLUM_PICTURE_H
#define VELLUM_PICTURE_H

#include "vellum/vellum_frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vellum_picture_colors {
  VELLUM_PICTURE_RAMP = 0,    /* the palette from `low` to `high`, linear between its colours */
  VELLUM_PICTURE_STEPS = 1,   /* the palette from `low` to `high` without interpolation */
  VELLUM_PICTURE_CLASSES = 2, /* the colour of the channel with the largest value, or of a class number */
  VELLUM_PICTURE_RGB = 3      /* the channels are red, green, blue and perhaps alpha */
} vellum_picture_colors;

typedef enum vellum_picture_filter {
  VELLUM_PICTURE_BILINEAR = 0,
  VELLUM_PICTURE_NEAREST = 1
} vellum_picture_filter;

typedef enum vellum_channel_order {
  VELLUM_CHANNELS_AUTOMATIC = 0, /* the smaller of the second and the last dimension */
  VELLUM_CHANNELS_FIRST = 1,
  VELLUM_CHANNELS_LAST = 2
} vellum_channel_order;

/* Fill it with vellum_picture_output_init(), then change what should differ. */
typedef struct vellum_picture_output {
  size_t size; /* of this struct, as the caller was compiled */
  vellum_picture_colors colors;
  float low, high;
  const uint8_t* palette; /* red, green, blue, alpha; NULL: from opaque black to opaque white */
  size_t palette_colors;  /* at most 4096 */
  vellum_picture_filter filter;
  vellum_channel_order channels;
  uint32_t width, height; /* pixels, at most 16384; 0: the size of the frame or of the output */
  const char* over;       /* an input that takes frames; NULL: none */
  const char* name;       /* name of the picture as an additional output; NULL: it replaces the output */
} vellum_picture_output;

VELLUM_C_API void vellum_picture_output_init_sized(vellum_picture_output* picture, size_t size);
#define vellum_picture_output_init(picture) \
  vellum_picture_output_init_sized((picture), sizeof(vellum_picture_output))

/*
 * Makes a model whose output `name` is a picture: uint8, height x width x 4. VELLUM_NOT_FOUND for an unknown output,
 * VELLUM_UNSUPPORTED for an output of another shape. Destroy `pictured` with vellum_model_destroy(); `model` may be
 * destroyed before it.
 */
VELLUM_C_API vellum_status vellum_model_with_picture(const vellum_model* model, const char* name,
                                                     const vellum_picture_output* picture, vellum_model** pictured,
                                                     vellum_error* error);

/* A picture that sessions may make of an output of the model in a bundle. */
typedef struct vellum_bundle_picture {
  const char* output;
  const vellum_picture_output* picture;
} vellum_bundle_picture;

/*
 * Writes a bundle as vellum_write_bundle_with_frames() does, and adds the shaders of sessions that make these pictures,
 * one model for each picture. A picture over an input needs a frame of that input among `frames`. The shaders do not
 * depend on colours. They do not depend on the size either if the width exceeds 16 pixels.
 */
VELLUM_C_API vellum_status vellum_write_bundle_with_pictures(
    const char* model, const char* file, const vellum_device* device, const char* caps,
    const vellum_session_options* options, const vellum_bundle_frame* frames, size_t frame_count,
    const vellum_bundle_picture* pictures, size_t picture_count, vellum_bundle_summary* summary, vellum_error* error);
/* Makes a bundle as vellum_bundle_in_memory() does, with pictures. */
VELLUM_C_API vellum_status vellum_bundle_in_memory_with_pictures(
    const void* model, size_t model_bytes, vellum_write_callback write, void* write_user, const vellum_device* device,
    const char* caps, const vellum_session_options* options, const vellum_bundle_frame* frames, size_t frame_count,
    const vellum_bundle_picture* pictures, size_t picture_count, vellum_bundle_summary* summary, vellum_error* error);

/* Further forms in which sessions may run the model of a bundle. Fill it with vellum_bundle_variants_init(). */
typedef struct vellum_bundle_variants {
  size_t size; /* of this struct, as the caller was compiled */
  const vellum_bundle_frame* frames;
  size_t frame_count;
  const vellum_bundle_picture* pictures;
  size_t picture_count;
  int32_t images; /* not 0: shaders for images as these frames and as outputs, buffers with strides, and
                     frames in hardware buffers */
  const char* signature; /* for a TFLite model: the only signature that the bundle will have. NULL: the signature that
                            vellum_model_load() chooses */
} vellum_bundle_variants;
VELLUM_C_API void vellum_bundle_variants_init_sized(vellum_bundle_variants* variants, size_t size);
#define vellum_bundle_variants_init(variants) \
  vellum_bundle_variants_init_sized((variants), sizeof(vellum_bundle_variants))

/* Write a bundle with the shaders of all variants. `variants` may be NULL. */
VELLUM_C_API vellum_status vellum_write_bundle_with_variants(const char* model, const char* file,
                                                             const vellum_device* device, const char* caps,
                                                             const vellum_session_options* options,
                                                             const vellum_bundle_variants* variants,
                                                             vellum_bundle_summary* summary,
                                                             vellum_error* error);
VELLUM_C_API vellum_status vellum_bundle_in_memory_with_variants(
    const void* model, size_t model_bytes, vellum_write_callback write, void* write_user,
    const vellum_device* device, const char* caps, const vellum_session_options* options,
    const vellum_bundle_variants* variants, vellum_bundle_summary* summary, vellum_error* error);

#ifdef __cplusplus
}
#endif

#endif

/*
 * Camera frames and pictures as inputs of a model: the C interface of vellum/frame.hpp, which defines the
 * terms. docs/embedding.md explains it.
 *
 *   vellum_frame_input camera;
 *   vellum_frame_input_init(&camera);
 *   camera.format = VELLUM_FRAME_NV12, camera.width = 1280, camera.height = 720;
 *   vellum_model_with_frames(model, "image", &camera, &framed, &error);
 *   ... vellum_session_create(device, framed, ...)
 *   vellum_frame_transform part;
 *   vellum_frame_letterbox(1280, 720, 128, 128, &part, &error);
 *   float transform[6];
 *   vellum_frame_transform_values(&part, transform);
 *   vellum_session_set_input(session, "image", frame, frame_bytes, &error);
 *   vellum_session_set_input(session, "image.transform", transform, sizeof transform, &error);
 */
#ifndef VELLUM_FRAME_H
#define VELLUM_FRAME_H

#include "vellum/vellum.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vellum_frame_format {
  VELLUM_FRAME_RGBA8 = 0,
  VELLUM_FRAME_BGRA8 = 1,
  VELLUM_FRAME_RGB8 = 2,
  VELLUM_FRAME_GREY8 = 3,
  VELLUM_FRAME_NV12 = 4,
  VELLUM_FRAME_NV21 = 5,
  VELLUM_FRAME_I420 = 6
} vellum_frame_format;

typedef enum vellum_color_matrix { VELLUM_COLOR_BT601 = 0, VELLUM_COLOR_BT709 = 1 } vellum_color_matrix;
typedef enum vellum_color_range { VELLUM_COLOR_LIMITED = 0, VELLUM_COLOR_FULL = 1 } vellum_color_range;
typedef enum vellum_frame_filter {
  VELLUM_FILTER_BILINEAR = 0,
  VELLUM_FILTER_AREA = 1 /* averages where the frame is reduced */
} vellum_frame_filter;

/*
 * The part of a frame that the network sees. With `matrix` = a, b, c, d, e, f, the point (x, y) in pixels of the
 * network's input is (a x + b y + c, d x + e y + f) in pixels of the frame. The functions below fill it.
 */
typedef struct vellum_frame_transform {
  double matrix[6];
  double network_width, network_height;
} vellum_frame_transform;

/* These functions fail with VELLUM_INVALID_ARGUMENT for sizes that are not positive and values that are not finite. */
VELLUM_C_API vellum_status vellum_frame_stretch(double frame_width, double frame_height, double network_width,
                                                double network_height, vellum_frame_transform* transform,
                                                vellum_error* error);
VELLUM_C_API vellum_status vellum_frame_letterbox(double frame_width, double frame_height, double network_width,
                                                  double network_height, vellum_frame_transform* transform,
                                                  vellum_error* error);
VELLUM_C_API vellum_status vellum_frame_center_crop(double frame_width, double frame_height, double network_width,
                                                    double network_height, vellum_frame_transform* transform,
                                                    vellum_error* error);
/* A rectangle of the frame around a centre, rotated clockwise by `angle` radians; 0: an upright crop. */
VELLUM_C_API vellum_status vellum_frame_rotated(double center_x, double center_y, double width, double height,
                                                double angle, double network_width, double network_height,
                                                vellum_frame_transform* transform, vellum_error* error);
/* The parallelogram with these corners, in pixels of the frame. VELLUM_INVALID_ARGUMENT if it has no area. */
VELLUM_C_API vellum_status vellum_frame_region(double corner_x, double corner_y, double right_x, double right_y,
                                               double down_x, double down_y, double network_width, double network_height,
                                               vellum_frame_transform* transform, vellum_error* error);
/* Makes a transform of the same part of the frame that the network sees mirrored: horizontally if `across` is not 0, else
 * vertically. */
VELLUM_C_API vellum_status vellum_frame_flip(const vellum_frame_transform* transform, int32_t across,
                                             vellum_frame_transform* flipped, vellum_error* error);

/* Map a point from pixels of the network's input to pixels of the frame, and back. */
VELLUM_C_API vellum_status vellum_frame_from_network(const vellum_frame_transform* transform, double x, double y,
                                                     double* frame_x, double* frame_y, vellum_error* error);
VELLUM_C_API vellum_status vellum_frame_to_network(const vellum_frame_transform* transform, double x, double y,
                                                   double* network_x, double* network_y, vellum_error* error);
/* The value of the input "NAME.transform". */
VELLUM_C_API void vellum_frame_transform_values(const vellum_frame_transform* transform, float values[6]);

/* Fill it with vellum_frame_input_init(), then change what should differ. */
typedef struct vellum_frame_input {
  size_t size; /* of this struct, as the caller was compiled */
  vellum_frame_format format;
  uint32_t width, height; /* pixels, at most 16384 */
  uint32_t row_bytes;     /* from one row to the next; 0: rows without padding */
  vellum_color_matrix matrix;
  vellum_color_range range;
  vellum_frame_filter filter;
  int32_t repeat_border;                   /* not 0: beside the frame its border is repeated; 0: `fill` */
  float fill[3];                           /* red, green, blue in 0..255 */
  int32_t bgr;                             /* not 0: the network takes blue, green, red */
  float mean[4], scale[4];                 /* (pixel - mean) * scale, in the order of the network's channels */
  const vellum_frame_transform* transform; /* for all frames; NULL: the model gets an input NAME.transform */
  const int64_t* network_shape;            /* shape of the input if the model leaves it open; NULL: the model's */
  size_t network_rank;
} vellum_frame_input;

VELLUM_C_API void vellum_frame_input_init_sized(vellum_frame_input* frame, size_t size);
VELLUM_C_API void vellum_frame_input_init(vellum_frame_input* frame);
#define vellum_frame_input_init(frame) vellum_frame_input_init_sized((frame), sizeof(vellum_frame_input))
/* Computes the bytes of a frame. */
VELLUM_C_API vellum_status vellum_frame_input_bytes(const vellum_frame_input* frame, size_t* bytes, vellum_error* error);

/*
 * Makes a model whose input `name` takes frames, as vellum_frame_input_bytes() elements of uint8. VELLUM_NOT_FOUND
 * for an unknown input, VELLUM_UNSUPPORTED for an input that is no image. Destroy `framed` with
 * vellum_model_destroy(); `model` may be destroyed before it.
 */
VELLUM_C_API vellum_status vellum_model_with_frames(const vellum_model* model, const char* name,
                                                    const vellum_frame_input* frame, vellum_model** framed,
                                                    vellum_error* error);

/* Frames that an input of the model in a bundle may take. */
typedef struct vellum_bundle_frame {
  const char* input;
  const vellum_frame_input* frame;
} vellum_bundle_frame;

/*
 * Writes a bundle as vellum_write_bundle() does, and adds the shaders of sessions whose inputs take these frames, one
 * model for each frame. Vellum::runtime, which compiles no shaders, needs them. The shaders depend on the frames' format,
 * filter, bgr and border, not on their size.
 */
VELLUM_C_API vellum_status vellum_write_bundle_with_frames(const char* model, const char* file, const vellum_device* device,
                                                           const char* caps, const vellum_session_options* options,
                                                           const vellum_bundle_frame* frames, size_t frame_count,
                                                           vellum_bundle_summary* summary, vellum_error* error);

/* Receives the bytes of a bundle in order, in several calls. Return 0 to go on; anything else ends the call with
 * VELLUM_CANCELLED. */
typedef int32_t (*vellum_write_callback)(const void* bytes, size_t byte_count, void* user);
/*
 * Makes such a bundle without files: reads the model from memory and passes the bundle to `write`. A model with external
 * data is refused. `model` is not used after the call. `options` and `summary` may be NULL, and `frames` if frame_count
 * is 0.
 */
VELLUM_C_API vellum_status vellum_bundle_in_memory(const void* model, size_t model_bytes, vellum_write_callback write,
                                                   void* write_user, const vellum_device* device, const char* caps,
                                                   const vellum_session_options* options,
                                                   const vellum_bundle_frame* frames, size_t frame_count,
                                                   vellum_bundle_summary* summary, vellum_error* error);

#ifdef __cplusplus
}
#endif

#endif

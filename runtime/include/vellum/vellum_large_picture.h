/*
 * Pictures larger than memory: networks of local operators run tile by tile. Only the application holds the
 * whole inputs and outputs, in host memory or files. vellum/large_pictures.hpp defines the terms. A part of
 * vellum/vellum.h.
 *
 *   const int64_t dims[] = {1, 3, 4320, 7680};
 *   const vellum_input_shape whole = {"x", dims, 4};
 *   vellum_session_options session;
 *   vellum_large_picture_options options;
 *   vellum_session_options_init(&session);
 *   session.input_shapes = &whole, session.input_shape_count = 1, session.memory_budget = 256 << 20;
 *   vellum_large_picture_options_init(&options);
 *   options.session = &session;
 *   vellum_large_picture_create(device, model, &options, &picture, &error);
 *   vellum_large_picture_run(picture, read, write, NULL, files, &error);
 */
#ifndef VELLUM_LARGE_PICTURE_H
#define VELLUM_LARGE_PICTURE_H

#include "vellum/vellum_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A network prepared for the tiles of one picture size. One thread at a time. It keeps its device and model
 * alive. */
typedef struct vellum_large_picture vellum_large_picture;

/* Fill it with vellum_large_picture_options_init(), then change what should differ. */
typedef struct vellum_large_picture_options {
  size_t size; /* of this struct, as the caller was compiled */
  /* NULL: the defaults. input_shapes: shapes of the whole picture. LargePictureOptions::session documents
   * which members have no effect and which are refused. */
  const vellum_session_options* session;
  /* Rows and columns of the inputs that one tile reads, halo included; 0: as many as fit. */
  int64_t tile_height, tile_width;
} vellum_large_picture_options;
VELLUM_C_API void vellum_large_picture_options_init_sized(vellum_large_picture_options* options, size_t size);
#define vellum_large_picture_options_init(options) \
  vellum_large_picture_options_init_sized((options), sizeof(vellum_large_picture_options))

/*
 * Prepares a network. VELLUM_UNSUPPORTED, which names the layer, for a network that is not local;
 * VELLUM_OUT_OF_MEMORY, which states the bytes of the smallest tiles, if no tile fits the memory budget;
 * VELLUM_INVALID_ARGUMENT without the shape of the whole picture, and for tiles no larger than the halo.
 */
VELLUM_C_API vellum_status vellum_large_picture_create(const vellum_device* device, const vellum_model* model,
                                                       const vellum_large_picture_options* options,
                                                       vellum_large_picture** picture, vellum_error* error);
VELLUM_C_API void vellum_large_picture_destroy(vellum_large_picture* picture);

/* Inputs and outputs, in the shapes of the whole picture. */
VELLUM_C_API size_t vellum_large_picture_input_count(const vellum_large_picture* picture);
VELLUM_C_API size_t vellum_large_picture_output_count(const vellum_large_picture* picture);
VELLUM_C_API vellum_status vellum_large_picture_input(const vellum_large_picture* picture, size_t index,
                                                      vellum_tensor_info* info, vellum_error* error);
VELLUM_C_API vellum_status vellum_large_picture_output(const vellum_large_picture* picture, size_t index,
                                                       vellum_tensor_info* info, vellum_error* error);

typedef struct vellum_large_picture_info {
  size_t size;                     /* of this struct, as the caller was compiled */
  int64_t tile_height, tile_width; /* rows and columns of the inputs that each tile reads */
  size_t tiles_down, tiles_across;
  uint64_t peak_bytes; /* peak of allocated device memory; 0 without a memory budget */
} vellum_large_picture_info;
VELLUM_C_API vellum_status vellum_large_picture_get_info(const vellum_large_picture* picture,
                                                         vellum_large_picture_info* info,
                                                         vellum_error* error);

/* Some rows and columns of an input or output. Its values are a dense tensor in the model's order of
 * dimensions. */
typedef struct vellum_picture_region {
  size_t size;       /* of this struct, as the library was compiled */
  size_t tensor;     /* index of the input or output */
  size_t rows_axis;  /* the tensor's dimension of rows; the next one is that of columns */
  int64_t top, left; /* in the whole tensor */
  int64_t height, width;
} vellum_picture_region;

/* Fills the values of a region of an input. Regions of successive tiles overlap. These callbacks return 0 to
 * go on; anything else ends the run with VELLUM_CANCELLED. */
typedef int32_t (*vellum_read_region_callback)(const vellum_picture_region* region, void* values,
                                               size_t byte_count, void* user);
/* Receives the values of a region of an output. Each element is delivered once, in rows of tiles from top to
 * bottom, each row from left to right. */
typedef int32_t (*vellum_write_region_callback)(const vellum_picture_region* region, const void* values,
                                                size_t byte_count, void* user);
/* Called before the first tile and after each. */
typedef int32_t (*vellum_tile_callback)(size_t done, size_t total, void* user);

/* Runs the network over the whole picture. All callbacks come on the thread of the call; `progress` may be
 * NULL. */
VELLUM_C_API vellum_status vellum_large_picture_run(vellum_large_picture* picture,
                                                    vellum_read_region_callback read,
                                                    vellum_write_region_callback write,
                                                    vellum_tile_callback progress, void* user,
                                                    vellum_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VELLUM_LARGE_PICTURE_H */

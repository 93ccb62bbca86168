/* Declarations of vellum_frame.h of the release before: see tests/abi/abi_check.py. */
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
  VELLUM_FILTER_AREA = 1
} vellum_frame_filter;
typedef struct vellum_frame_transform {
  double matrix[6];
  double network_width, network_height;
} vellum_frame_transform;
VELLUM_API vellum_status vellum_frame_stretch(double frame_width, double frame_height, double network_width,
                                              double network_height, vellum_frame_transform* transform,
                                              vellum_error* error);
VELLUM_API vellum_status vellum_frame_letterbox(double frame_width, double frame_height, double network_width,
                                                double network_height, vellum_frame_transform* transform,
                                                vellum_error* error);
VELLUM_API vellum_status vellum_frame_center_crop(double frame_width, double frame_height, double network_width,
                                                  double network_height, vellum_frame_transform* transform,
                                                  vellum_error* error);
VELLUM_API vellum_status vellum_frame_rotated(double center_x, double center_y, double width, double height,
                                              double angle, double network_width, double network_height,
                                              vellum_frame_transform* transform, vellum_error* error);
VELLUM_API vellum_status vellum_frame_flip(const vellum_frame_transform* transform, int32_t across,
                                           vellum_frame_transform* flipped, vellum_error* error);
VELLUM_API vellum_status vellum_frame_from_network(const vellum_frame_transform* transform, double x, double y,
                                                   double* frame_x, double* frame_y, vellum_error* error);
VELLUM_API vellum_status vellum_frame_to_network(const vellum_frame_transform* transform, double x, double y,
                                                 double* network_x, double* network_y, vellum_error* error);
VELLUM_API void vellum_frame_transform_values(const vellum_frame_transform* transform, float values[6]);
typedef struct vellum_frame_input {
  size_t size;
  vellum_frame_format format;
  uint32_t width, height;
  uint32_t row_bytes;
  vellum_color_matrix matrix;
  vellum_color_range range;
  vellum_frame_filter filter;
  int32_t repeat_border;
  float fill[3];
  int32_t bgr;
  float mean[4], scale[4];
  const vellum_frame_transform* transform;
  const int64_t* network_shape;
  size_t network_rank;
} vellum_frame_input;
VELLUM_API void vellum_frame_input_init(vellum_frame_input* frame);
VELLUM_API vellum_status vellum_frame_input_bytes(const vellum_frame_input* frame, size_t* bytes, vellum_error* error);
VELLUM_API vellum_status vellum_model_with_frames(const vellum_model* model, const char* name,
                                                  const vellum_frame_input* frame, vellum_model** framed,
                                                  vellum_error* error);
#ifdef __cplusplus
}
#endif
#endif

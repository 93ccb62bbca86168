// Frames in the C interface.
#include "vellum/frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "c_api/support.hpp"
#include "vellum/vellum_frame.h"

using vellum::c_api::checked_choice;
using vellum::c_api::given_or_default;
using vellum::c_api::guarded;
using vellum::c_api::require;

namespace {

static_assert(static_cast<int>(vellum::FrameFormat::i420) == VELLUM_FRAME_I420);
static_assert(static_cast<int>(vellum::ColorMatrix::bt709) == VELLUM_COLOR_BT709);
static_assert(static_cast<int>(vellum::ColorRange::full) == VELLUM_COLOR_FULL);
static_assert(static_cast<int>(vellum::FrameFilter::area) == VELLUM_FILTER_AREA);

vellum::FrameTransform to_cpp(const vellum_frame_transform& transform) {
  const double* m = transform.matrix;
  const double width = transform.network_width, height = transform.network_height;
  return vellum::FrameTransform::region({m[2], m[5]}, {m[0] * width + m[2], m[3] * width + m[5]},
                                        {m[1] * height + m[2], m[4] * height + m[5]}, {width, height});
}

vellum_frame_transform to_c(const vellum::FrameTransform& transform, vellum::FrameSize network) {
  vellum_frame_transform result{{}, network.width, network.height};
  std::ranges::copy(transform.matrix(), result.matrix);
  return result;
}

vellum_frame_input frame_defaults() {
  const vellum::FrameInput defaults;
  vellum_frame_input frame{};
  frame.size = sizeof(frame);
  std::ranges::copy(defaults.scale, frame.scale);
  return frame;
}

}  // namespace

vellum::FrameInput vellum::c_api::frame_input(const vellum_frame_input* c_frame) {
  require(c_frame, "frame");
  const vellum_frame_input frame = given_or_default(c_frame, frame_defaults());
  vellum::FrameInput result;
  result.format = checked_choice<vellum::FrameFormat>(frame.format, VELLUM_FRAME_I420, "format");
  result.width = frame.width;
  result.height = frame.height;
  result.row_bytes = frame.row_bytes;
  result.matrix = checked_choice<vellum::ColorMatrix>(frame.matrix, VELLUM_COLOR_BT709, "matrix");
  result.range = checked_choice<vellum::ColorRange>(frame.range, VELLUM_COLOR_FULL, "range");
  result.filter = checked_choice<vellum::FrameFilter>(frame.filter, VELLUM_FILTER_AREA, "filter");
  result.fill = {frame.fill[0], frame.fill[1], frame.fill[2]};
  if (frame.repeat_border) result.fill.reset();
  result.bgr = frame.bgr != 0;
  std::ranges::copy(frame.mean, result.mean.begin());
  std::ranges::copy(frame.scale, result.scale.begin());
  if (frame.transform) result.transform = to_cpp(*frame.transform);
  if (frame.network_rank) require(frame.network_shape, "network_shape");
  if (frame.network_shape)
    result.network_shape.assign(frame.network_shape, frame.network_shape + frame.network_rank);
  return result;
}

namespace {

// `make`: FrameTransform::stretch, letterbox or center_crop.
vellum_status make_transform(vellum::FrameTransform (*make)(vellum::FrameSize, vellum::FrameSize),
                             vellum::FrameSize frame, vellum::FrameSize network,
                             vellum_frame_transform* transform, vellum_error* error) {
  return guarded(error, [&] {
    require(transform, "transform");
    *transform = to_c(make(frame, network), network);
  });
}

vellum_status map_point(const vellum_frame_transform* transform, vellum::FramePoint point, double* x,
                        double* y, vellum_error* error,
                        vellum::FramePoint (vellum::FrameTransform::*map)(vellum::FramePoint) const) {
  return guarded(error, [&] {
    require(transform, "transform");
    require(x, "x");
    require(y, "y");
    const vellum::FramePoint mapped = (to_cpp(*transform).*map)(point);
    *x = mapped.x;
    *y = mapped.y;
  });
}

}  // namespace

vellum_status vellum_frame_stretch(double frame_width, double frame_height, double network_width,
                                   double network_height, vellum_frame_transform* transform,
                                   vellum_error* error) {
  return make_transform(vellum::FrameTransform::stretch, {frame_width, frame_height},
                        {network_width, network_height}, transform, error);
}

vellum_status vellum_frame_letterbox(double frame_width, double frame_height, double network_width,
                                     double network_height, vellum_frame_transform* transform,
                                     vellum_error* error) {
  return make_transform(vellum::FrameTransform::letterbox, {frame_width, frame_height},
                        {network_width, network_height}, transform, error);
}

vellum_status vellum_frame_center_crop(double frame_width, double frame_height, double network_width,
                                       double network_height, vellum_frame_transform* transform,
                                       vellum_error* error) {
  return make_transform(vellum::FrameTransform::center_crop, {frame_width, frame_height},
                        {network_width, network_height}, transform, error);
}

vellum_status vellum_frame_rotated(double center_x, double center_y, double width, double height,
                                   double angle, double network_width, double network_height,
                                   vellum_frame_transform* transform, vellum_error* error) {
  return guarded(error, [&] {
    require(transform, "transform");
    const vellum::FrameSize network{network_width, network_height};
    *transform =
        to_c(vellum::FrameTransform::rotated({center_x, center_y}, {width, height}, angle, network), network);
  });
}

vellum_status vellum_frame_region(double corner_x, double corner_y, double right_x, double right_y,
                                  double down_x, double down_y, double network_width, double network_height,
                                  vellum_frame_transform* transform, vellum_error* error) {
  return guarded(error, [&] {
    require(transform, "transform");
    const vellum::FrameSize network{network_width, network_height};
    *transform = to_c(
        vellum::FrameTransform::region({corner_x, corner_y}, {right_x, right_y}, {down_x, down_y}, network),
        network);
  });
}

vellum_status vellum_frame_flip(const vellum_frame_transform* transform, int32_t across,
                                vellum_frame_transform* flipped, vellum_error* error) {
  return guarded(error, [&] {
    require(transform, "transform");
    require(flipped, "flipped");
    const vellum::FrameTransform from = to_cpp(*transform);
    *flipped = to_c(across ? from.flipped_horizontally() : from.flipped_vertically(),
                    {transform->network_width, transform->network_height});
  });
}

vellum_status vellum_frame_from_network(const vellum_frame_transform* transform, double x, double y,
                                        double* frame_x, double* frame_y, vellum_error* error) {
  return map_point(transform, {x, y}, frame_x, frame_y, error, &vellum::FrameTransform::to_frame);
}

vellum_status vellum_frame_to_network(const vellum_frame_transform* transform, double x, double y,
                                      double* network_x, double* network_y, vellum_error* error) {
  return map_point(transform, {x, y}, network_x, network_y, error, &vellum::FrameTransform::to_network);
}

void vellum_frame_transform_values(const vellum_frame_transform* transform, float values[6]) {
  if (!transform || !values) return;
  std::ranges::transform(transform->matrix, values, [](double value) { return static_cast<float>(value); });
}

void vellum_frame_input_init_sized(vellum_frame_input* frame, size_t size) {
  vellum::c_api::write_defaults(frame, size, frame_defaults());
}

void(vellum_frame_input_init)(vellum_frame_input* frame) {
  constexpr size_t end = offsetof(vellum_frame_input, network_rank) + sizeof(frame->network_rank);
  vellum::c_api::write_defaults(frame, vellum::c_api::size_that_ends_at<vellum_frame_input>(end),
                                frame_defaults());
}

vellum_status vellum_frame_input_bytes(const vellum_frame_input* frame, size_t* bytes, vellum_error* error) {
  return guarded(error, [&] {
    require(bytes, "bytes");
    *bytes = static_cast<size_t>(vellum::c_api::frame_input(frame).bytes());
  });
}

vellum_status vellum_model_with_frames(const vellum_model* model, const char* name,
                                       const vellum_frame_input* frame, vellum_model** framed,
                                       vellum_error* error) {
  if (framed) *framed = nullptr;
  return guarded(error, [&] {
    require(model, "model");
    require(name, "name");
    require(framed, "framed");
    *framed = new vellum_model{vellum::with_frames(model->model, name, vellum::c_api::frame_input(frame))};
  });
}

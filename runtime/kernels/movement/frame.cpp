// Lowers Frame: the bytes of a camera frame to the values of a network's input.
#include "graph/operators/movement/frame.hpp"

#include "kernels/framework/iterations.hpp"
#include "kernels/movement/frame_pixels.hpp"
#include "shaders/movement/frame.h"

namespace vellum {
namespace {

vec4 vector_of(const std::array<float, 4>& values) { return {values[0], values[1], values[2], values[3]}; }

FrameParameters parameters(const Frame& op, const FramePlanes& planes) {
  const ColorConversion conversion = color_conversion(op.frame.matrix, op.frame.range);
  const std::array<float, 3> fill = op.frame.fill.value_or(std::array<float, 3>{});
  return {.y_shape = texel_shape({1, op.channels, op.height, op.width}),
          .plane = plane_parameters(planes),
          .mean = vector_of(op.frame.mean),
          .scale = vector_of(op.frame.scale),
          .fill = {fill[0], fill[1], fill[2], 255.0f},
          .size = {op.frame.width, op.frame.height},
          .row = planes.row,
          .luma_offset = narrow_parameter(conversion.luma_offset),
          .luma_scale = narrow_parameter(conversion.luma_scale),
          .red_v = narrow_parameter(conversion.red_v),
          .green_u = narrow_parameter(conversion.green_u),
          .green_v = narrow_parameter(conversion.green_v),
          .blue_u = narrow_parameter(conversion.blue_u)};
}

void define_values(Dispatch& dispatch, const Frame& op) {
  if (op.frame.filter == FrameFilter::area) define(dispatch, "AREA");
  if (op.frame.fill) define(dispatch, "FILL");
  if (op.channels == 1)
    define(dispatch, "LUMA");
  else if (op.frame.bgr)
    define(dispatch, "BGR");
}

}  // namespace

void lower_frame(Lowering& lowering) {
  const Frame& op = lowering.op<Frame>();
  const FramePlanes planes = planes_of(op.frame);
  const TensorId frame = lowering.read(0, Layout::linear);
  const TensorId transform = read_transform(lowering, 1);
  const TensorId y = lowering.write(0, Layout::channels4);
  Dispatch dispatch = make_dispatch("frame", grid_of_texels(lowering.caps(), lowering.output_type().shape),
                                    {reads("frame", frame), reads("transform", transform), writes("y", y)},
                                    parameters(op, planes));
  constexpr uint64_t kBilinear = window_iterations(2, 2, 0);  // of a sample
  dispatch.iterations = kShortLoops + window_iterations(kMostAveraged, kMostAveraged, kBilinear);
  define_frame_format(dispatch, op.frame);
  define_values(dispatch, op);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

// Frame: bytes of a camera to values of a network.
#include "graph/operators/frame.hpp"

#include <algorithm>

#include "kernels/framework/elements.hpp"
#include "shaders/movement/frame.h"

namespace vellum {
namespace {

vec4 vector_of(const std::array<float, 4>& values) { return {values[0], values[1], values[2], values[3]}; }

float32 narrowed(double value) { return static_cast<float>(value); }

FrameParameters parameters(const Frame& op, const FramePlanes& planes) {
  const ColorConversion conversion = color_conversion(op.frame.matrix, op.frame.range);
  const std::array<float, 3> fill = op.frame.fill.value_or(std::array<float, 3>{});
  return {.y_shape = texel_shape({1, op.channels, op.height, op.width}),
          .plane = planes.has_chroma ? ivec4{planes.u, planes.v, planes.chroma_row, planes.chroma_step}
                                     : ivec4{planes.pixel, planes.rgb[0], planes.rgb[1], planes.rgb[2]},
          .mean = vector_of(op.frame.mean),
          .scale = vector_of(op.frame.scale),
          .fill = {fill[0], fill[1], fill[2], 255.0f},
          .size = {op.frame.width, op.frame.height},
          .row = planes.row,
          .luma_offset = narrowed(conversion.luma_offset),
          .luma_scale = narrowed(conversion.luma_scale),
          .red_v = narrowed(conversion.red_v),
          .green_u = narrowed(conversion.green_u),
          .green_v = narrowed(conversion.green_v),
          .blue_u = narrowed(conversion.blue_u)};
}

void define_format(Dispatch& dispatch, const Frame& op, const FramePlanes& planes) {
  if (planes.has_chroma) {
    define(dispatch, "WITH_CHROMA");
    const int64_t first = std::min(planes.u, planes.v);
    if (planes.chroma_step == 2 && first % 2 == 0)
      define(dispatch, "CHROMA_PAIRS", planes.u == first ? "1" : "2");
  } else if (planes.pixel == 4 && planes.row % 4 == 0) {
    define(dispatch, "PIXEL_WORDS", op.frame.format == FrameFormat::rgba8 ? "1" : "2");
  }
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
  // In halves, positions in a frame would be off by pixels.
  const TensorId transform = lowering.constant(1)
                                 ? exact_constant(lowering, 1, Layout::linear, lowering.input_type(1).shape)
                                 : lowering.read(1, Layout::linear);
  const TensorId y = lowering.write(0, Layout::channels4);
  Dispatch dispatch = make_dispatch("frame", grid_of_texels(lowering.caps(), lowering.output_type().shape),
                                    {reads("frame", frame), reads("transform", transform), writes("y", y)},
                                    parameters(op, planes));
  define_format(dispatch, op, planes);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

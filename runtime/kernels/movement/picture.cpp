// Lowers Picture: the values of a network's output to a picture in bytes.
#include "graph/operators/movement/picture.hpp"

#include "kernels/framework/iterations.hpp"
#include "kernels/movement/frame_pixels.hpp"
#include "program/divide.hpp"
#include "shaders/movement/picture.h"

namespace vellum {
namespace {

PictureParameters parameters(const Picture& op, const Shape& values, int64_t colors) {
  const FramePlanes planes = op.has_frame ? planes_of(op.frame) : FramePlanes{};
  const ColorConversion conversion = color_conversion(op.frame.matrix, op.frame.range);
  return {.x_shape = texel_shape(values),
          .plane = plane_parameters(planes),
          .picture = {op.width, op.height},
          .size = {op.frame.width, op.frame.height},
          .network = {op.network_width, op.network_height},
          .row = planes.row,
          .luma_offset = narrow_parameter(conversion.luma_offset),
          .luma_scale = narrow_parameter(conversion.luma_scale),
          .red_v = narrow_parameter(conversion.red_v),
          .green_u = narrow_parameter(conversion.green_u),
          .green_v = narrow_parameter(conversion.green_v),
          .blue_u = narrow_parameter(conversion.blue_u),
          .low = op.low,
          .scale = narrow_parameter(1 / (double{op.high} - double{op.low})),
          .colors = colors};
}

void define_colors(Dispatch& dispatch, const Picture& op, int64_t channels) {
  const bool classes = op.values_are_classes(channels);
  constexpr const char* names[] = {"RAMP", "STEPS", "LARGEST", "RGB"};
  define(dispatch, classes ? "CLASSES" : names[static_cast<size_t>(op.colors)]);
  if (classes || op.filter == PictureFilter::nearest) define(dispatch, "NEAREST");
}

// Returns the palette as a row of texels in an image. The smallest devices allow four storage buffers for a
// dispatch, which the values, the frame, its transform and the picture may need.
TensorId palette(Lowering& lowering, bool has_frame) {
  const HostTensor colors = *lowering.constant(1);
  TensorDesc desc = lowering.texel_grid(static_cast<uint32_t>(colors.shape()[0]), 1);
  if (has_frame && lowering.caps().max_storage_buffers_per_stage < 5) desc.storage = Storage::image2d;
  desc.element = ElementType::f32;
  return lowering.weight(lowering.node().name + "/palette", desc, [colors] { return colors.to_floats(); });
}

}  // namespace

void lower_picture(Lowering& lowering) {
  const Picture& op = lowering.op<Picture>();
  const Shape& values = lowering.input_type(0).shape;
  if (!lowering.constant(1)) return lowering.run_on_host("a palette that is not constant has no kernel");
  const TensorId x = lowering.read(0, Layout::channels4);
  std::vector<Binding> bindings{reads("x", x), reads("palette", palette(lowering, op.has_frame))};
  if (op.has_frame) {
    bindings.push_back(reads("frame", lowering.read(2, Layout::linear)));
    bindings.push_back(reads("transform", read_transform(lowering, 3)));
  }
  bindings.push_back(writes("y", lowering.write(0, Layout::linear)));
  Dispatch dispatch = make_dispatch("picture", grid_3d(lowering.caps(), op.width, op.height, 1), bindings,
                                    parameters(op, values, lowering.input_type(1).shape[0]));
  dispatch.iterations = kShortLoops + loop_iterations(slices(values[1]), loop_iterations(4));
  define_colors(dispatch, op, values[1]);
  if (op.has_frame) {
    define(dispatch, "OVER");
    define_frame_format(dispatch, op.frame);
    if (op.width == op.frame.width && op.height == op.frame.height) define(dispatch, "SAME_SIZE");
  }
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

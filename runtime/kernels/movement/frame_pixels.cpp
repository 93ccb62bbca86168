#include "kernels/movement/frame_pixels.hpp"

#include <algorithm>

namespace vellum {

ivec4 plane_parameters(const FramePlanes& planes) {
  if (planes.has_chroma) return {planes.u, planes.v, planes.chroma_row, planes.chroma_step};
  return {planes.pixel, planes.rgb[0], planes.rgb[1], planes.rgb[2]};
}

void define_frame_format(Dispatch& dispatch, const FrameInput& frame) {
  const FramePlanes planes = planes_of(frame);
  if (planes.has_chroma) {
    define(dispatch, "WITH_CHROMA");
    const int64_t first = std::min(planes.u, planes.v);
    if (planes.chroma_step == 2 && first % 2 == 0)
      define(dispatch, "CHROMA_PAIRS", planes.u == first ? "1" : "2");
  } else if (planes.pixel == 4 && planes.row % 4 == 0) {
    define(dispatch, "PIXEL_WORDS", frame.format == FrameFormat::rgba8 ? "1" : "2");
  }
}

TensorId read_transform(Lowering& lowering, size_t i) {
  if (!lowering.constant(i)) return lowering.read(i, Layout::linear);
  return exact_constant(lowering, i, Layout::linear, lowering.input_type(i).shape);
}

}  // namespace vellum

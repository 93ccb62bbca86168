#include "kernels/movement/frame_image.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/framework/elements.hpp"

namespace vellum {

Dispatch frame_of_image(Dispatch dispatch, const FrameInput& frame, FrameImage image) {
  constexpr std::array<std::string_view, 5> of_bytes{"WITH_CHROMA", "CHROMA_PAIRS", "PIXEL_WORDS",
                                                     "STORAGE_frame", "ELEMENT_frame"};
  std::erase_if(dispatch.defines, [&](const auto& macro) {
    return std::ranges::find(of_bytes, macro.first) != of_bytes.end();
  });
  if (image == FrameImage::planes) {
    define(dispatch, "IMAGE_PLANES");
    if (frame.format == FrameFormat::nv21) define(dispatch, "V_BEFORE_U");
    return dispatch;
  }
  define(dispatch, image == FrameImage::bytes ? "IMAGE_BYTES" : "IMAGE_NUMBERS");
  if (frame.format == FrameFormat::grey8) define(dispatch, "GREY");
  if (frame.format == FrameFormat::rgb8) define(dispatch, "OPAQUE");
  return dispatch;
}

}  // namespace vellum

#include "io/photo.hpp"

namespace vellum::io {

FrameInput photo_frame(const Image& photo, float mean, float scale) {
  FrameInput frame{.format = FrameFormat::rgb8,
                   .width = static_cast<uint32_t>(photo.width),
                   .height = static_cast<uint32_t>(photo.height),
                   .filter = FrameFilter::area};
  frame.mean.fill(mean);
  frame.scale.fill(scale);
  return frame;
}

Tensor photo_bytes(const Image& photo) {
  return Tensor::from<uint8_t>(DType::u8, {static_cast<int64_t>(photo.rgb.size())}, photo.rgb);
}

FrameInput picture_frame(const Picture& picture) {
  return {.format = FrameFormat::rgba8,
          .width = static_cast<uint32_t>(picture.width),
          .height = static_cast<uint32_t>(picture.height),
          .filter = FrameFilter::area};
}

Tensor picture_bytes(const Picture& picture) {
  return Tensor::from<uint8_t>(DType::u8, {static_cast<int64_t>(picture.bytes.size())}, picture.bytes);
}

FrameSize size_of(const Image& photo) {
  return {static_cast<double>(photo.width), static_cast<double>(photo.height)};
}

FrameSize size_of(const FrameInput& frame) {
  return {static_cast<double>(frame.width), static_cast<double>(frame.height)};
}

}  // namespace vellum::io

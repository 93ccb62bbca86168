// Camera frames and pictures as inputs of a model, in bytes, pre-processed on the device.
//
//   vellum::FrameInput camera{.format = vellum::FrameFormat::nv12, .width = 1280, .height = 720};
//   camera.mean.fill(127.5f);
//   camera.scale.fill(1 / 127.5f);  // the network sees -1..1
//   vellum::Model faces = vellum::with_frames(vellum::Model::load("faces.onnx"), "image", camera);
//   vellum::Session session(device, faces);        // its input "image" now takes the bytes of a frame
//   auto map = vellum::FrameTransform::letterbox({1280, 720}, {128, 128});
//   session.run({{"image", frame}, {"image.transform", map.tensor()}});
//   vellum::FramePoint nose = map.to_frame({x, y});  // from the network's pixels to the frame's
//
// docs/embedding.md shows the same with buffers of the application.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vellum/export.h"
#include "vellum/tensor.hpp"
#include "vellum/vellum.hpp"

namespace vellum {

// How the bytes of a frame are ordered, top row first. In the last three a plane of luma is followed by
// chroma at half the width and half the height, both rounded up: U and V alternating (nv12), V and U
// alternating (nv21), or a plane of U and then a plane of V (i420).
enum class FrameFormat : uint8_t { rgba8, bgra8, rgb8, grey8, nv12, nv21, i420 };
VELLUM_API std::string_view name(FrameFormat format);

// For nv12, nv21 and i420: Rec. ITU-R BT.601 or BT.709, and whether luma is 16..235 or 0..255.
enum class ColorMatrix : uint8_t { bt601, bt709 };
enum class ColorRange : uint8_t { limited, full };

// bilinear: between the four nearest pixels, as fast as the network is small, but it skips pixels where the
// frame is reduced to less than half. area: along an axis that is reduced, the mean of the pixels that one of
// the network's covers, weighted by coverage; of a rotated frame the mean of bilinear samples, at most a
// pixel apart. At most 64 pixels of the frame along an axis are averaged into one of the network's. Both
// interpolate along an axis that is enlarged.
enum class FrameFilter : uint8_t { bilinear, area };

struct FramePoint {
  double x = 0, y = 0;
};
struct FrameSize {
  double width = 0, height = 0;
};

// Which part of a frame the network sees: an affine map between pixels of the network's input and of the
// frame. Both begin at the corner of the first pixel, whose centre is (0.5, 0.5), and y is down.
//
//    frame                        network
//   +--------------------+        corner ----- right
//   |    corner          |          | o          |
//   |    /    \          |   <-->   |            |
//   |  down   right      |          |            |
//   |    \    /          |         down ---------+
//   +--------------------+
//
// A plain value. The functions throw Error(invalid_argument) for sizes that are not positive and for values
// that are not finite.
class VELLUM_API FrameTransform {
 public:
  // The whole frame, whatever its proportions.
  static FrameTransform stretch(FrameSize frame, FrameSize network);
  // The whole frame without distortion, centred; what is beside it is FrameInput::fill. It covers whole
  // pixels of the network, so that the scales of both axes may differ by rounding.
  static FrameTransform letterbox(FrameSize frame, FrameSize network);
  // The largest part with the network's proportions from the middle of the frame.
  static FrameTransform center_crop(FrameSize frame, FrameSize network);
  // An upright rectangle, which may exceed the frame.
  static FrameTransform crop(FramePoint top_left, FrameSize size, FrameSize network);
  // A rectangle around a centre, rotated clockwise (as seen in the frame) by `angle` radians.
  static FrameTransform rotated(FramePoint center, FrameSize size, double angle, FrameSize network);
  // The parallelogram with these corners, in pixels of the frame. Throws Error(invalid_argument) if it has no
  // area.
  static FrameTransform region(FramePoint corner, FramePoint right, FramePoint down, FrameSize network);

  // Returns a transform of the same part of the frame, mirrored for the network.
  FrameTransform flipped_horizontally() const;
  FrameTransform flipped_vertically() const;

  FramePoint to_frame(FramePoint in_network) const;
  FramePoint to_network(FramePoint in_frame) const;

  // The rows (a, b, c) and (d, e, f) of to_frame(): x' = a x + b y + c, y' = d x + e y + f.
  const std::array<double, 6>& matrix() const { return matrix_; }
  // The matrix as the value, float32 [2, 3], of the input "NAME.transform"; and its bytes, for a buffer.
  Tensor tensor() const;
  std::array<float, 6> values() const;

 private:
  FrameTransform(const std::array<double, 6>& matrix, FrameSize network)
      : matrix_(matrix), network_(network) {}
  std::array<double, 6> matrix_;
  FrameSize network_;
};

// A frame, and how it becomes the values of an image input:
//
//   value = (pixel - mean[c]) * scale[c]     pixel in 0..255, c a channel of the network
struct FrameInput {
  FrameFormat format = FrameFormat::rgba8;
  uint32_t width = 0, height = 0;  // pixels, at most 16384
  // From one row to the next in memory, 0: no padding. Rows of chroma take as many bytes in nv12 and nv21
  // (rounded up to whole pairs), half as many, rounded up, in i420.
  uint32_t row_bytes = 0;
  ColorMatrix matrix = ColorMatrix::bt601;
  ColorRange range = ColorRange::limited;

  FrameFilter filter = FrameFilter::bilinear;
  // The colour that the network sees beside the frame: red, green and blue in 0..255. Nothing: the pixels of
  // the frame's border, repeated.
  std::optional<std::array<float, 3>> fill = std::array<float, 3>{0, 0, 0};
  // The network takes blue, green, red.
  bool bgr = false;
  // In the order of the network's channels. A network of one channel gets luma; the fourth channel of one
  // with four is alpha, 255 in formats without it.
  std::array<float, 4> mean = {0, 0, 0, 0}, scale = {1, 1, 1, 1};

  // The part of each frame that the network sees. Nothing: the model gets a further input NAME.transform, the
  // tensor() of a FrameTransform, which may differ from run to run. Elements of it that are not finite are
  // read as 0.
  std::optional<FrameTransform> transform = std::nullopt;
  // The shape of the network's input, where the model leaves dimensions of it open.
  Shape network_shape = {};

  // The size of a frame in memory. Throws Error(invalid_argument) for a width or height that is not
  // in 1..16384 and for a row_bytes that is shorter than a row.
  VELLUM_API uint64_t bytes() const;
};

// Returns the model with frames as one of its inputs: `input`, which is float or 8-bit, [1, C, H, W] or [1,
// H, W, C] with one, three or four channels, becomes uint8 [FrameInput::bytes()] under the same name, and is
// computed from it by a first operator, "Frame", of the network. All else (sessions, recordings, plans,
// estimates, profiles) sees it as it sees the other operators. The upload of a frame is its bytes. For an
// input of 8 bits values are rounded and saturated. Weights are shared with `model` in host memory.
//
// Thread-safe. Throws Error(not_found) for an unknown input, Error(unsupported), naming it, for one of
// another kind, and Error(invalid_argument) for a frame that FrameInput::bytes() refuses, for mean, scale or
// fill that are not finite, and for a network_shape that does not fit the model or is missing.
VELLUM_API Model with_frames(const Model& model, std::string_view input, const FrameInput& frame);

}  // namespace vellum

// Camera frames and pictures in bytes as inputs of a model. The device pre-processes them.
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

// The order of the bytes of a frame, top row first. The last three are a plane of luma followed by chroma at
// half the width and half the height, both rounded up: U and V interleaved (nv12), V and U interleaved
// (nv21), or a plane of U and then a plane of V (i420).
enum class FrameFormat : uint8_t { rgba8, bgra8, rgb8, grey8, nv12, nv21, i420 };
VELLUM_API std::string_view name(FrameFormat format);

// For nv12, nv21 and i420. The matrix is that of Rec. ITU-R BT.601 or BT.709. The range of luma is 16..235
// (limited) or 0..255 (full).
enum class ColorMatrix : uint8_t { bt601, bt709 };
enum class ColorRange : uint8_t { limited, full };

// How frames are resampled.
//   bilinear  interpolates the four nearest pixels of the frame. Its cost depends only on the network's
//             size. It skips pixels if the frame is reduced to less than half.
//   area      along each axis that is reduced, averages the pixels of the frame that a pixel of the
//             network covers, weighted by coverage: at most 64 pixels along an axis. In a rotated frame it
//             averages bilinear samples, at most a pixel apart. Along an axis that is enlarged it
//             interpolates.
enum class FrameFilter : uint8_t { bilinear, area };

struct FramePoint {
  double x = 0, y = 0;
};
struct FrameSize {
  double width = 0, height = 0;
};

// The part of a frame that the network sees: an affine map between pixels of the network's input and pixels
// of the frame. In both the origin is the corner of the first pixel, whose centre is (0.5, 0.5), and y points
// down.
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
  // The whole frame without distortion, centred; FrameInput::fill is beside it. The frame covers whole pixels
  // of the network, so the scales of the two axes may differ by rounding.
  static FrameTransform letterbox(FrameSize frame, FrameSize network);
  // The largest centred part of the frame with the network's proportions.
  static FrameTransform center_crop(FrameSize frame, FrameSize network);
  // An upright rectangle, which may exceed the frame.
  static FrameTransform crop(FramePoint top_left, FrameSize size, FrameSize network);
  // A rectangle around a centre, rotated clockwise (as seen in the frame) by `angle` radians.
  static FrameTransform rotated(FramePoint center, FrameSize size, double angle, FrameSize network);
  // The parallelogram with these corners, in pixels of the frame. Throws Error(invalid_argument) if its area
  // is zero.
  static FrameTransform region(FramePoint corner, FramePoint right, FramePoint down, FrameSize network);

  // Return a transform of the same part of the frame, which the network sees mirrored.
  FrameTransform flipped_horizontally() const;
  FrameTransform flipped_vertically() const;

  FramePoint to_frame(FramePoint in_network) const;
  FramePoint to_network(FramePoint in_frame) const;

  // The rows (a, b, c) and (d, e, f) of to_frame(): x' = a x + b y + c, y' = d x + e y + f.
  const std::array<double, 6>& matrix() const { return matrix_; }
  // Return the matrix as float32 [2, 3] for the input "NAME.transform": as a tensor, and as values for a
  // buffer.
  Tensor tensor() const;
  std::array<float, 6> values() const;

 private:
  FrameTransform(const std::array<double, 6>& matrix, FrameSize network)
      : matrix_(matrix), network_(network) {}
  std::array<double, 6> matrix_;
  FrameSize network_;
};

// The format of a frame, and its conversion to the values of an image input:
//
//   value = (pixel - mean[c]) * scale[c]     pixel in 0..255, c a channel of the network
struct FrameInput {
  FrameFormat format = FrameFormat::rgba8;
  uint32_t width = 0, height = 0;  // pixels, at most 16384
  // Bytes from one row to the next; 0: rows without padding. Rows of chroma take the same bytes in nv12 and
  // nv21 (rounded up to whole pairs), and half of them, rounded up, in i420.
  uint32_t row_bytes = 0;
  ColorMatrix matrix = ColorMatrix::bt601;
  ColorRange range = ColorRange::limited;

  FrameFilter filter = FrameFilter::bilinear;
  // The colour that the network sees beside the frame: red, green and blue in 0..255. Empty: the border
  // pixels of the frame are repeated.
  std::optional<std::array<float, 3>> fill = std::array<float, 3>{0, 0, 0};
  // True: the network's channels are blue, green, red.
  bool bgr = false;
  // One for each channel of the network, in its order. A network of one channel gets luma. If it has four,
  // the fourth is alpha, which is 255 in formats without it.
  std::array<float, 4> mean = {0, 0, 0, 0}, scale = {1, 1, 1, 1};

  // The part of each frame that the network sees. Empty: the model gets one more input, NAME.transform, which
  // takes the tensor() of a FrameTransform and may differ from run to run. Elements of it that are not finite
  // are read as 0.
  std::optional<FrameTransform> transform = std::nullopt;
  // The shape of the network's input. Required if the model leaves dimensions of it open.
  Shape network_shape = {};

  // The size of a frame in memory. Throws Error(invalid_argument) for a width or height that is not
  // in 1..16384 and for a row_bytes that is shorter than a row.
  VELLUM_API uint64_t bytes() const;
};

// Returns the model with an input that takes frames. `input` must be float or 8-bit, [1, C, H, W] or [1, H,
// W, C] with one, three or four channels. It becomes uint8 [FrameInput::bytes()] under the same name, and an
// operator "Frame", which is put first, computes the network's values from it. Sessions, recordings, plans,
// estimates and profiles treat Frame like any operator. Only the bytes of a frame are uploaded. For an 8-bit
// input values are rounded and saturated. Weights are shared with `model` in host memory.
//
// Thread-safe. Throws Error(not_found) for an unknown input; Error(unsupported), which names it, for an input
// of another type or shape; and Error(invalid_argument) for a frame that FrameInput::bytes() refuses, for
// mean, scale or fill that are not finite, and for a network_shape that is missing or does not fit the model.
VELLUM_API Model with_frames(const Model& model, std::string_view input, const FrameInput& frame);

}  // namespace vellum

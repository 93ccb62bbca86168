// The conversion of camera frames to values of a network: sampling, colour conversion, normalisation.
#pragma once

#include "graph/operator_support.hpp"
#include "vellum/frame.hpp"

namespace vellum {

// The positions of a frame's samples: byte offsets and strides.
struct FramePlanes {
  int64_t row = 0;  // bytes from one row to the next
  // Interleaved formats: bytes of a pixel, and the positions of red, green and blue in it.
  int64_t pixel = 0;
  std::array<int64_t, 3> rgb{};
  // Formats with chroma: offsets of the first U and the first V, and the strides to the next ones.
  bool has_chroma = false;
  int64_t u = 0, v = 0, chroma_row = 0, chroma_step = 0;
  int64_t bytes = 0;  // of the whole frame
};

// Returns the positions of a frame's samples. Throws the errors of FrameInput::bytes().
FramePlanes planes_of(const FrameInput& frame);

// Converts Y, U and V in 0..255 to red, green and blue:
//   luma  = (Y - luma_offset) * luma_scale
//   red   = luma + red_v * (V - 128)
//   green = luma + green_u * (U - 128) + green_v * (V - 128)
//   blue  = luma + blue_u * (U - 128)
struct ColorConversion {
  double luma_offset = 0, luma_scale = 1, red_v = 0, green_u = 0, green_v = 0, blue_u = 0;
};
ColorConversion color_conversion(ColorMatrix matrix, ColorRange range);

// The pixels of a frame in memory, as red, green, blue and alpha in 0..255.
class FramePixels {
 public:
  using Rgba = std::array<double, 4>;
  FramePixels(const FrameInput& frame, const uint8_t* bytes)
      : planes_(planes_of(frame)), conversion_(color_conversion(frame.matrix, frame.range)), bytes_(bytes) {}
  Rgba at(int64_t x, int64_t y) const;

 private:
  double byte(int64_t offset) const { return bytes_[offset]; }

  FramePlanes planes_;
  ColorConversion conversion_;
  const uint8_t* bytes_;
};

// Returns the rows of a transform in the form that kernels take: values that are not finite become 0, and
// magnitudes are clamped to 1e9.
std::array<double, 6> usable_transform(std::span<const float> values);

// Convert a frame to and from attributes of an operator, without transform and network_shape.
void set_frame(Attributes& attributes, const FrameInput& frame);
FrameInput frame_of(const Attributes& attributes);
// Return an attribute, or 0 if it is missing. Throw Error(corrupt_model) for a value that is not in 0..last,
// or for size_attribute() not in 0..most.
template <typename Enum>
Enum enum_attribute(const Attributes& attributes, std::string_view name, Enum last) {
  const int64_t value = attributes.get_int(name, 0);
  if (value < 0 || value > static_cast<int64_t>(last))
    refuse_model("the attribute " + std::string(name) + " is " + std::to_string(value));
  return static_cast<Enum>(value);
}
uint32_t size_attribute(const Attributes& attributes, std::string_view name, int64_t most);

// The weights of red, green and blue in luma (BT.601), for a network of one channel.
inline constexpr std::array<double, 3> kLumaWeights{0.299, 0.587, 0.114};

// The largest number of frame pixels along an axis that FrameFilter::area averages into one pixel of the
// network. lavapipe ends the loops of an invocation after 65535 iterations, and 64 x 64 bilinear samples take
// 29,000.
inline constexpr int kMostAveraged = 64;

// Inputs: the frame's bytes (uint8, FramePlanes::bytes of them) and the rows of FrameTransform::to_frame()
// (float [2, 3]). Output: float (1, C, H, W), where C is 1, 3 or 4. Channel c at column x and row y is (pixel
// - mean[c]) * scale[c], where pixel is the frame filtered around the transformed point (x + 0.5, y + 0.5).
// Not an ONNX operator: with_frames() adds it.
struct Frame : Operator {
  FrameInput frame;  // without transform and network_shape
  int64_t channels = 3, height = 1, width = 1;

  std::string_view type() const override { return "Frame"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

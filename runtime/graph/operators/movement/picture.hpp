// The conversion of a network's values to a picture in bytes: resizing, colours, and blending over a frame.
#pragma once

#include "graph/operator_support.hpp"
#include "vellum/frame.hpp"
#include "vellum/picture.hpp"

namespace vellum {

inline constexpr int64_t kMostPictureColors = 4096, kMostPicturePixels = 16384;  // along an axis

// Inputs: values, float (1, C, H, W); the palette, float [N, 4] in 0..255; and, with has_frame, the bytes of
// a frame and the rows of FrameTransform::to_frame(), as for Frame. Output: uint8 [height, width, 4], as
// PictureOutput defines it. Not an ONNX operator: with_picture() adds it.
struct Picture : Operator {
  PictureColors colors = PictureColors::ramp;
  PictureFilter filter = PictureFilter::bilinear;
  float low = 0, high = 1;
  int64_t width = 1, height = 1;
  bool has_frame = false;
  FrameInput frame;                               // only format, sizes and colours are used
  int64_t network_width = 1, network_height = 1;  // size of the network's input

  // Returns whether the values are class numbers, for this number of channels.
  bool values_are_classes(int64_t channels) const {
    return colors == PictureColors::classes && channels == 1;
  }

  std::string_view type() const override { return "Picture"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

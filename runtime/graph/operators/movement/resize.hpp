// Resampling of images. https://onnx.ai/onnx/operators/onnx__Resize.html, onnx__Upsample.html
#pragma once

#include "graph/operator_support.hpp"

namespace vellum {

enum class ResizeMode : uint8_t { nearest, linear, cubic };
enum class CoordinateMode : uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};
enum class NearestMode : uint8_t {
  round_prefer_floor,
  round_prefer_ceil,
  floor,
  ceil,
  simple  // opset 10: ceil where the axis shrinks, else floor
};
enum class AspectPolicy : uint8_t { stretch, not_larger, not_smaller };

// One entry per dimension of the input.
struct ResizeGeometry {
  Shape input, output;
  std::vector<float> scales;
  // The output size before it is rounded down, by which align_corners and tf_crop_and_resize divide.
  std::vector<float> lengths;
  std::vector<float> roi_begin, roi_end;  // tf_crop_and_resize only, relative to the input
};

// An input element along one axis and its weight. An output element is the sum of weight * element.
struct ResizeTap {
  int64_t index;
  float weight;
};
struct ResizeTaps {
  std::vector<ResizeTap> taps;  // at most four
  bool outside = false;         // tf_crop_and_resize: use the extrapolation value
};

// A strip: some rows of a larger output, computed from some rows of a larger input (passes/tile).
struct ResizeStrip {
  static constexpr size_t kAxis = 2;     // of the rows
  int64_t input_rows = 0;                // of the whole input
  int64_t first_row = 0, row_count = 0;  // of the output
  int64_t first_input_row = 0;           // the whole input's row that is X's first
};

// The integer arithmetic of linear interpolation in a quantised model, along the last two of four axes
// (tflite/kernels/internal/reference/resize_bilinear.h). x and the results are (integer - zero) * step.
// Weights have 10 fractional bits and sums 20, unless in_floats. A step of 0: the model is not quantised.
struct FixedResize {
  float step = 0.0f;
  int32_t zero = 0;
  bool in_floats = false;
  explicit operator bool() const { return step != 0.0f; }
};

// Inputs X, then roi, scales, sizes (Resize from opset 11), or scales (Upsample 9, Resize 10), or nothing
// (Upsample 7).
struct Resize : Operator {
  ResizeMode mode = ResizeMode::nearest;
  CoordinateMode coordinates = CoordinateMode::half_pixel;
  NearestMode nearest = NearestMode::round_prefer_floor;
  AspectPolicy policy = AspectPolicy::stretch;
  float cubic_a = -0.75f;
  float extrapolation = 0.0f;
  bool antialias = false;  // an output element averages all input elements that it covers
  bool exclude_outside = false;
  std::optional<Attributes::Floats> scales;  // known without an input
  std::optional<Ints> axes;                  // the axes of roi, scales and sizes; default: all
  // Indices of the inputs; kNone if the operator has no such input.
  static constexpr size_t kNone = SIZE_MAX;
  size_t roi_input = kNone, scales_input = kNone, sizes_input = kNone;
  std::string onnx_type = "Resize";
  // Set if X (of four dimensions) and the output are strips of larger tensors. Everything else describes the
  // whole tensors.
  std::optional<ResizeStrip> strip;
  FixedResize fixed = {};

  // Returns the geometry of the whole tensors, also for a strip.
  ResizeGeometry geometry(Inputs inputs) const;
  // Returns the position in the input, in elements, that output index `i` of `axis` reads.
  float source(const ResizeGeometry& geometry, size_t axis, int64_t i) const;
  // Returns the index that mode nearest reads for a source coordinate, within [0, input size).
  int64_t nearest_index(const ResizeGeometry& geometry, size_t axis, float coordinate) const;
  // Returns whether each output index of `axis` reads the input's element of that index.
  bool keeps(const ResizeGeometry& geometry, size_t axis) const;
  // Returns the taps of each output index of `axis`. For a strip, indices count the strip's rows. The weights
  // of several axes are multiplied.
  std::vector<ResizeTaps> taps(const ResizeGeometry& geometry, size_t axis) const;

  std::string_view type() const override { return onnx_type; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum

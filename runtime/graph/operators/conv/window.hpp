// The sliding window of convolutions and pools: strides, dilations, padding, and the output size that
// follows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/attributes.hpp"
#include "graph/tensor.hpp"

namespace vellum {

enum class AutoPad : uint8_t { notset, same_upper, same_lower, valid };

// A window applied to an input of known size. One entry for each spatial axis, outermost first.
struct WindowPlacement {
  Shape input, kernel, output;
  std::vector<int64_t> strides, dilations, pads_begin, pads_end;
};

// Attributes of the window as in the model. An empty list means the default.
struct Window {
  std::vector<int64_t> kernel;  // in a convolution the default is the size of the weights
  std::vector<int64_t> strides, dilations;
  std::vector<int64_t> pads;  // all begins, then all ends
  AutoPad auto_pad = AutoPad::notset;
  bool ceil_mode = false;

  // Applies the window to an input. `input` and `kernel`: sizes along the spatial axes. Throws
  // Error(corrupt_model) if a list has the wrong length or the window does not fit.
  // https://onnx.ai/onnx/operators/onnx__Conv.html, https://onnx.ai/onnx/operators/onnx__MaxPool.html
  WindowPlacement place(std::span<const int64_t> input, std::span<const int64_t> kernel) const;

  void print(Attributes& attributes) const;
};

// Reads kernel_shape, strides, dilations, pads and auto_pad; refuses values that no shape could make valid.
Window read_window(const Attributes& attributes);

// Checks the lengths of lists against the number of spatial axes, and fills in defaults.
WindowPlacement window_defaults(const Window& window, std::span<const int64_t> input,
                                std::span<const int64_t> kernel);

// Returns a placement of one or two axes extended to three by leading axes of size 1, so that loops need only
// one form.
WindowPlacement as_3d(WindowPlacement placement);

}  // namespace vellum

// Col2Im: adds the columns of windows to an image at the positions of the windows.
// https://onnx.ai/onnx/operators/onnx__Col2Im.html
#include "graph/composed.hpp"

namespace vellum {
namespace {

struct Windows {
  Ints dilations, pads, strides;
};

// A transposed convolution of each channel, in which tap k of the window is 1 for column k and 0 for others.
HostTensor tap_weights(DType dtype, int64_t channels, const Ints& window) {
  const int64_t taps = checked_element_count(window);
  Shape shape{checked_multiply(channels, taps), 1};
  shape.insert(shape.end(), window.begin(), window.end());
  std::vector<float> weights(Body::table_size(shape), 0.0f);
  for (size_t row = 0; row < static_cast<size_t>(shape[0]); ++row)
    weights[row * static_cast<size_t>(taps) + row % static_cast<size_t>(taps)] = 1.0f;
  return HostTensor::from<float>(dtype, shape, weights);
}

void check_windows(const Windows& windows, const Ints& image, const Ints& window) {
  const size_t rank = image.size();
  if (rank == 0 || window.size() != rank || windows.dilations.size() != rank ||
      windows.strides.size() != rank || windows.pads.size() != 2 * rank)
    refuse_model("image_shape, block_shape and attributes have different numbers of dimensions");
  for (size_t i = 0; i < rank; ++i)
    if (image[i] <= 0 || window[i] <= 0 || windows.dilations[i] <= 0 || windows.strides[i] <= 0 ||
        windows.pads[i] < 0 || windows.pads[rank + i] < 0)
      refuse_model("a dimension, stride, dilation or pad is not positive");
}

void fold(Body& body, Windows windows) {
  const ValueId x = body.input(0, "input");
  const Shape columns = body.shape(x);
  const Ints image = constant_ints(body.rule_inputs(), 1, "image_shape");
  const Ints window = constant_ints(body.rule_inputs(), 2, "block_shape");
  const size_t rank = image.size();
  if (windows.dilations.empty()) windows.dilations.assign(rank, 1);
  if (windows.strides.empty()) windows.strides.assign(rank, 1);
  if (windows.pads.empty()) windows.pads.assign(2 * rank, 0);
  check_windows(windows, image, window);
  const int64_t taps = checked_element_count(window);
  if (columns.size() != 3 || columns[1] % taps != 0)
    refuse_model("input of shape " + to_string(columns) + " is not of columns of " + std::to_string(taps));
  const int64_t channels = columns[1] / taps;
  Shape blocks{columns[0], columns[1]};
  Ints output_padding;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t room = checked_add(checked_add(image[i], windows.pads[i]), windows.pads[rank + i]);
    const int64_t rest = room - checked_add(checked_multiply(windows.dilations[i], window[i] - 1), 1);
    if (rest < 0) refuse_model("a window is larger than the image");
    blocks.push_back(rest / windows.strides[i] + 1);
    output_padding.push_back(rest % windows.strides[i]);
  }
  if (product(blocks, 2, blocks.size()) != columns[2])
    refuse_model("input of shape " + to_string(columns) + " has another number of windows than the image");
  const ValueId weights = body.constant(tap_weights(body.type(x).dtype, channels, window));
  body.output(body.add("ConvTranspose", {body.reshape(x, blocks), weights},
                       {{"group", channels},
                        {"kernel_shape", window},
                        {"dilations", windows.dilations},
                        {"strides", windows.strides},
                        {"pads", windows.pads},
                        {"output_padding", output_padding}}));
}

}  // namespace

std::shared_ptr<const Operator> make_col2im(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const Windows windows{a.get_ints("dilations"), a.get_ints("pads"), a.get_ints("strides")};
  return composed(spec, [windows](Body& body) { fold(body, windows); });
}

}  // namespace vellum

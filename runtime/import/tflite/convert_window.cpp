// Converters of operators on images: convolutions, pools and resizing.
#include <algorithm>
#include <cmath>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/depth_to_space.hpp"
#include "graph/operators/movement/resize.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "import/tflite/byte_tables.hpp"
#include "import/tflite/call.hpp"
#include "import/tflite/fixed_point.hpp"
#include "import/tflite/hybrid.hpp"

namespace vellum::tflite {
namespace {

constexpr int64_t kLargest = int64_t{1} << 30;

int64_t positive(int64_t value, const char* what) {
  if (value < 1 || value > kLargest) refuse_model(std::string(what) + " is " + std::to_string(value));
  return value;
}

AutoPad padding(schema::Padding value) {
  if (value == schema::Padding::same) return AutoPad::same_upper;
  if (value == schema::Padding::valid) return AutoPad::valid;
  refuse_model("padding " + std::to_string(static_cast<int>(value)) + " is unknown");
}

const HostTensor& constant_weights(const Call& call, size_t index) {
  const HostTensor* weights = call.writer.constant(call.input(index));
  if (weights == nullptr) refuse_unsupported("weights that are computed at run time");
  if (weights->dtype() != DType::f32 || weights->shape().size() != 4) {
    refuse_unsupported("weights are " + to_string(weights->type()) + ", expected four dimensions of float32");
  }
  return *weights;
}

// Multiplies the elements of each index of dimension `axis` by its ratio, if there are ratios.
HostTensor times_ratios(HostTensor tensor, const std::vector<float>& ratios, size_t axis) {
  if (ratios.empty()) return tensor;
  std::vector<float> values = tensor.to_floats();
  const auto inner = static_cast<size_t>(product(tensor.shape(), axis + 1, tensor.shape().size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] *= ratios[i / inner % ratios.size()];
  return HostTensor::f32(tensor.shape(), values);
}

// channels: dimension of the weights in the file that `ratios` are for.
ValueId add_weights(const Call& call, size_t index, const Ints& order, const std::vector<float>& ratios = {},
                    size_t channels = 0) {
  HostTensor weights = times_ratios(constant_weights(call, index), ratios, channels);
  return call.writer.add_constant(call.writer.name_of(call.input(index)) + "_weights",
                                  permuted(weights, order));
}

ValueId bias_value(const Call& call, size_t index, const std::vector<float>& ratios) {
  const HostTensor* bias = call.writer.constant(call.input(index));
  if (ratios.empty() || bias == nullptr) return call.writer.in_file_order(call.input(index));
  return call.writer.add_constant(call.writer.name_of(call.input(index)) + "_bias",
                                  times_ratios(*bias, ratios, 0));
}

// The inputs of a convolution: x, weights, and an optional bias.
std::vector<ValueId> conv_values(const Call& call, ValueId weights, const std::vector<float>& ratios = {}) {
  std::vector<ValueId> values{call.writer.as_image(call.input(0)), weights};
  if (call.has_input(2)) values.push_back(bias_value(call, 2, ratios));
  return values;
}

template <typename Options>
void read_window(const Options& options, Window& window) {
  window.strides = {positive(options.stride_h(), "stride"), positive(options.stride_w(), "stride")};
  window.auto_pad = padding(options.padding());
}

template <typename Options>
std::shared_ptr<Conv> make_conv(const Call& call, const Options& options) {
  auto conv = std::make_shared<Conv>();
  read_window(options, conv->window);
  conv->window.dilations = {positive(options.dilation_h(), "dilation"),
                            positive(options.dilation_w(), "dilation")};
  if (call.dilation != nullptr) {
    conv->window.auto_pad = AutoPad::notset;
    conv->window.dilations = call.dilation->dilations;
    conv->window.pads = call.dilation->pads;
  }
  return conv;
}

// LiteRT multiplies the scales of an unsigned convolution as floats, and sums of 64 bits by multipliers of 15
// bits.
std::shared_ptr<const FixedPoint> fixed_point_of(const Call& call, int64_t channels, size_t x_index = 0,
                                                 size_t bias_index = 2) {
  const int32_t x = call.input(x_index);
  const bool is_unsigned = call.writer.quantised(x) && call.writer.stored_type(x) == DType::u8;
  auto fixed = read_fixed_point(call, channels, is_unsigned, x_index, bias_index);
  if (fixed && fixed->has_16_bits)
    for (FixedMultiplier& multiplier : fixed->multipliers) multiplier = short_multiplier(multiplier);
  return fixed;
}

// Emits a convolution of floats with weights of integers (dequantise_batches() of passes/). LiteRT's kernels
// for weights with a scale of each channel choose a zero point.
bool emit_hybrid_conv(const Call& call, const Conv& conv, const Ints& order,
                      schema::FusedActivation activation) {
  const HostTensor& stored = constant_weights(call, 1);
  if (!is_hybrid(call, stored.shape()[static_cast<size_t>(order[0])])) return false;
  const HostTensor weights = permuted(stored, order);
  const StepsForm form = has_scales_of_channels(call) ? StepsForm::signed_bytes : StepsForm::symmetric;
  emit_hybrid(call, conv, call.writer.as_image(call.input(0)), weights, form, activation, false);
  return true;
}

int64_t channels_of(const Call& call) {
  const Shape& shape = call.writer.type(call.input(0)).shape;
  if (shape.size() != 4 || shape[3] < 1) refuse_model("the input is " + to_string(shape) + ", expected NHWC");
  return shape[3];
}

}  // namespace

void convert_conv(const Call& call) {
  const auto& options = call.required_options<schema::Conv2DOptions>();
  const int64_t channels = channels_of(call), per_group = constant_weights(call, 1).shape()[3];
  if (per_group < 1 || channels % per_group != 0) {
    refuse_model("weights for " + std::to_string(per_group) + " channels do not fit " +
                 std::to_string(channels));
  }
  auto conv = make_conv(call, options);
  conv->group = channels / per_group;
  conv->fixed_point = fixed_point_of(call, constant_weights(call, 1).shape()[0]);
  const Ints order{0, 3, 1, 2};  // OHWI -> OIHW
  if (emit_hybrid_conv(call, *conv, order, options.activation())) return;
  const std::vector<float> ratios =
      short_multiplier_ratios(call, conv->fixed_point.get(), constant_weights(call, 1).shape()[0]);
  const ValueId weights = add_weights(call, 1, order, ratios);
  call.emit(std::move(conv), conv_values(call, weights, ratios), true, options.activation());
}

void convert_depthwise_conv(const Call& call) {
  const auto& options = call.required_options<schema::DepthwiseConv2DOptions>();
  const int64_t channels = channels_of(call);
  const Shape& shape = constant_weights(call, 1).shape();
  if (shape[0] != 1 || shape[3] % channels != 0)
    refuse_model("weights of " + to_string(shape) + " do not fit");
  auto conv = make_conv(call, options);
  conv->group = channels;
  conv->fixed_point = fixed_point_of(call, shape[3]);
  const Ints order{3, 0, 1, 2};  // 1HWO -> O1HW
  if (call.writer.quantised(call.input(1)) && has_scales_of_channels(call) &&
      emit_hybrid_conv(call, *conv, order, options.activation()))
    return;
  const std::vector<float> ratios = short_multiplier_ratios(call, conv->fixed_point.get(), shape[3]);
  const ValueId weights = add_weights(call, 1, order, ratios, 3);
  call.emit(std::move(conv), conv_values(call, weights, ratios), true, options.activation());
}

namespace {

// Returns the output's shape of a TRANSPOSE_CONV. Where the number of images is open it is computed from it,
// and the file says what it comes to.
Ints transposed_shape(const Call& call) {
  if (call.writer.constant(call.input(0)) != nullptr)
    return call.writer.constant_ints(call.input(0), "the output's shape");
  const Shape& shape = call.writer.type(call.output()).shape;
  if (shape.size() != 4 || shape[1] == kUnknownDim || shape[2] == kUnknownDim)
    refuse_unsupported("the output's height and width are computed at run time");
  return shape;
}

}  // namespace

// Inputs output_shape, weights, x, bias (optional).
void convert_transpose_conv(const Call& call) {
  const auto& options = call.required_options<schema::TransposeConvOptions>();
  const Ints shape = transposed_shape(call);
  const Shape& kernel = constant_weights(call, 1).shape();
  const Shape& x = call.writer.type(call.input(2)).shape;
  if (shape.size() != 4 || x.size() != 4) refuse_model("its shapes have not four dimensions");
  auto conv = std::make_shared<ConvTranspose>();
  conv->window.strides = {positive(options.stride_h(), "stride"), positive(options.stride_w(), "stride")};
  const bool same = padding(options.padding()) == AutoPad::same_upper;
  Ints begin, end;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t out = positive(shape[i + 1], "output size"), in = positive(x[i + 1], "input size");
    const int64_t full = checked_add(checked_multiply(in - 1, conv->window.strides[i]), kernel[i + 1]);
    // The pads of the convolution of which this is the transpose: at most `full - out` elements follow its
    // output, and a larger output ends in zeros.
    const int64_t total = same ? std::max<int64_t>(0, full - out) : 0;
    begin.push_back(total / 2);
    end.push_back(full - out - begin.back());
    if (end.back() < 0) {
      conv->output_padding.resize(2, 0);
      conv->output_padding[i] = -end.back();
      end.back() = 0;
    }
  }
  conv->window.pads = {begin[0], begin[1], end[0], end[1]};
  conv->fixed_point = fixed_point_of(call, kernel[0], 2, 3);
  const std::vector<float> ratios = short_multiplier_ratios(call, conv->fixed_point.get(), kernel[0], 2, 3);
  std::vector<ValueId> values{call.writer.as_image(call.input(2)),
                              add_weights(call, 1, {3, 0, 1, 2}, ratios)};
  if (call.has_input(3)) values.push_back(bias_value(call, 3, ratios));
  call.emit(std::move(conv), std::move(values), true, options.activation());
}

// MediaPipe's transposed convolution. Inputs x, weights (OHWI), bias; the options are the three 32-bit
// numbers padding (1: same, 2: valid), stride_w, stride_h. https://github.com/google-ai-edge/mediapipe,
// util/tflite/operations/transpose_conv_bias.cc
void convert_transpose_conv_bias(const Call& call) {
  const Ints numbers = call.custom_numbers(3);
  if (numbers[0] != 1 && numbers[0] != 2)
    refuse_model("padding " + std::to_string(numbers[0]) + " is unknown");
  const Shape& kernel = constant_weights(call, 1).shape();
  const Shape& x = call.writer.type(call.input(0)).shape;
  if (x.size() != 4) refuse_model("the input has not four dimensions");
  auto conv = std::make_shared<ConvTranspose>();
  conv->window.strides = {positive(numbers[2], "stride"), positive(numbers[1], "stride")};
  conv->window.pads = {0, 0, 0, 0};
  for (size_t i = 0; i < 2 && numbers[0] == 1; ++i) {
    const int64_t in = positive(x[i + 1], "input size");
    const int64_t total = std::max<int64_t>(0, kernel[i + 1] - (in - 1) % conv->window.strides[i] - 1);
    conv->window.pads[i] = total / 2;
    conv->window.pads[i + 2] = total - total / 2;
  }
  const ValueId weights = add_weights(call, 1, {3, 0, 1, 2});  // OHWI -> IOHW
  call.emit(std::move(conv), conv_values(call, weights), true);
}

namespace {

// LiteRT averages the integers; both tensors have the same scale and zero point. Sums of at most 2^24 are
// exact in floats.
FixedAverage read_fixed_average(const Call& call, int64_t most_elements_of_16_bits = 0) {
  const auto scale_of =
      most_elements_of_16_bits > 0 && most_elements_of_16_bits <= 512 ? grid_scale : byte_scale;
  const auto x = scale_of(call, call.input(0)), y = scale_of(call, call.output());
  if (!x || !y || x->scale != y->scale || x->zero != y->zero) return {};
  return {x->scale, x->zero};
}

std::shared_ptr<Pool> make_pool(const schema::Pool2DOptions& options, PoolKind kind) {
  auto pool = std::make_shared<Pool>();
  pool->kind = kind;
  read_window(options, pool->window);
  pool->window.kernel = {positive(options.filter_height(), "filter"),
                         positive(options.filter_width(), "filter")};
  return pool;
}

}  // namespace

void convert_pool(const Call& call) {
  const auto& options = call.required_options<schema::Pool2DOptions>();
  auto pool = make_pool(options, call.type == "MAX_POOL_2D" ? PoolKind::max : PoolKind::average);
  if (pool->kind == PoolKind::average)
    pool->fixed_average =
        read_fixed_average(call, checked_multiply(pool->window.kernel[0], pool->window.kernel[1]));
  call.emit(std::move(pool), {call.writer.as_image(call.input(0))}, true, options.activation());
}

// The root of the mean of squares. Padding is left out of the mean.
void convert_l2_pool(const Call& call) {
  const auto& options = call.required_options<schema::Pool2DOptions>();
  const ValueId x = call.writer.as_image(call.input(0));
  const ValueId squares = call.emit_inner(make_binary(BinaryKind::mul), {x, x});
  const ValueId mean = call.emit_inner(make_pool(options, PoolKind::average), {squares});
  call.emit(make_unary(UnaryKind::sqrt), {mean}, true, options.activation());
}

namespace {

// Returns the height and width to which a RESIZE resizes.
ValueId output_size(const Call& call) {
  if (call.writer.constant(call.input(1)) == nullptr) return call.computed_ints(1);
  const Ints size = call.writer.constant_ints(call.input(1), "the output's size");
  if (size.size() != 2) refuse_model("the output's size has not two values");
  for (const int64_t length : size) positive(length, "output size");
  return call.ints(size, "size");
}

}  // namespace

void convert_resize(const Call& call) {
  bool align_corners = false, half_pixel = false;
  auto resize = std::make_shared<Resize>();
  if (call.type == "RESIZE_BILINEAR") {
    resize->mode = ResizeMode::linear;
    if (const auto* options = call.options<schema::ResizeBilinearOptions>()) {
      align_corners = options->align_corners();
      half_pixel = options->half_pixel_centers();
    }
  } else if (const auto* options = call.options<schema::ResizeNearestNeighborOptions>()) {
    align_corners = options->align_corners();
    half_pixel = options->half_pixel_centers();
  }
  if (align_corners && half_pixel) refuse_model("align_corners and half_pixel_centers exclude each other");
  const bool nearest = resize->mode == ResizeMode::nearest;
  resize->coordinates = align_corners ? CoordinateMode::align_corners
                        : !half_pixel ? CoordinateMode::asymmetric
                        : nearest     ? CoordinateMode::tf_half_pixel_for_nn
                                      : CoordinateMode::half_pixel;
  resize->nearest = align_corners ? NearestMode::round_prefer_ceil : NearestMode::floor;
  // LiteRT interpolates the integers, which have one scale and zero point; unsigned ones with float weights.
  const FixedAverage integers = read_fixed_average(call);
  if (resize->mode == ResizeMode::linear && integers)
    resize->fixed = {integers.step, integers.zero, call.writer.stored_type(call.input(0)) == DType::u8};
  resize->axes = Ints{2, 3};
  resize->sizes_input = 1;
  call.emit(std::move(resize), {call.writer.as_image(call.input(0)), output_size(call)}, true);
}

void convert_depth_to_space(const Call& call) {
  auto op = std::make_shared<DepthToSpace>();
  op->block = positive(call.required_options<schema::DepthToSpaceOptions>().block_size(), "block size");
  call.emit(std::move(op), {call.writer.as_image(call.input(0))}, true);
}

void convert_space_to_depth(const Call& call) {
  auto op = std::make_shared<SpaceToDepth>();
  op->block = positive(call.required_options<schema::SpaceToDepthOptions>().block_size(), "block size");
  call.emit(std::move(op), {call.writer.as_image(call.input(0))}, true);
}

}  // namespace vellum::tflite

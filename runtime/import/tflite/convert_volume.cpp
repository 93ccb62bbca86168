// Converters of convolutions of volumes: N, D, H, W, C in the file; N, C, D, H, W in the graph.
#include <algorithm>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

constexpr int64_t kLongestStep = int64_t{1} << 30;

Ints steps(int64_t depth, int64_t height, int64_t width, const char* what) {
  for (const int64_t step : {depth, height, width})
    if (step < 1 || step > kLongestStep) refuse_model(std::string(what) + " is " + std::to_string(step));
  return {depth, height, width};
}

void read_steps(const schema::Conv3DOptions& options, Window& window) {
  window.strides = steps(options.stride_d(), options.stride_h(), options.stride_w(), "stride");
  window.dilations = steps(options.dilation_d(), options.dilation_h(), options.dilation_w(), "dilation");
}

AutoPad padding_of(const schema::Conv3DOptions& options) {
  if (options.padding() == schema::Padding::same) return AutoPad::same_upper;
  if (options.padding() == schema::Padding::valid) return AutoPad::valid;
  refuse_model("padding " + std::to_string(static_cast<int>(options.padding())) + " is unknown");
}

// Returns x, the weights (depth, height, width and two numbers of channels in the file, which change places
// as `order` says) and the bias, if there is one.
std::vector<ValueId> volume_values(const Call& call, size_t x, const Ints& order, size_t bias) {
  const HostTensor* weights = call.writer.constant(call.input(1));
  if (weights == nullptr) refuse_unsupported("weights that are computed at run time");
  if (weights->shape().size() != 5 || weights->dtype() != DType::f32)
    refuse_unsupported("weights are " + to_string(weights->type()) + ", expected five dimensions of float32");
  if (call.writer.quantised(call.input(x))) refuse_unsupported("a volume of integers");
  std::vector<ValueId> values{
      call.emit_transposed(call.writer.in_file_order(call.input(x)), {0, 4, 1, 2, 3}),
      call.writer.add_constant(call.writer.name_of(call.input(1)) + "_weights", permuted(*weights, order))};
  if (call.has_input(bias)) values.push_back(call.writer.in_file_order(call.input(bias)));
  return values;
}

void emit_volume(const Call& call, std::shared_ptr<const Operator> op, std::vector<ValueId> values,
                 schema::FusedActivation activation) {
  auto to_file = std::make_shared<Transpose>();
  to_file->perm = Ints{0, 2, 3, 4, 1};
  call.emit(std::move(to_file), {call.emit_inner(std::move(op), std::move(values), activation)}, false);
}

}  // namespace

void convert_conv_3d(const Call& call) {
  const auto& options = call.required_options<schema::Conv3DOptions>();
  auto conv = std::make_shared<Conv>();
  read_steps(options, conv->window);
  conv->window.auto_pad = padding_of(options);
  emit_volume(call, std::move(conv), volume_values(call, 0, {4, 3, 0, 1, 2}, 2), options.activation());
}

// Inputs output_shape, weights, x, bias (optional).
void convert_transpose_conv_3d(const Call& call) {
  const auto& options = call.required_options<schema::Conv3DOptions>();
  const Ints shape = call.constant_of_rank(0, 5, "the output's shape");
  const Shape& x = call.writer.type(call.input(2)).shape;
  auto conv = std::make_shared<ConvTranspose>();
  read_steps(options, conv->window);
  std::vector<ValueId> values = volume_values(call, 2, {4, 3, 0, 1, 2}, 3);
  const Shape& kernel = call.writer.constant(call.input(1))->shape();
  if (x.size() != 5) refuse_model("its input has not five dimensions");
  const bool same = padding_of(options) == AutoPad::same_upper;
  Ints begin, end;
  conv->output_padding.assign(3, 0);
  for (size_t i = 0; i < 3; ++i) {
    if (x[i + 1] < 1 || shape[i + 1] < 1 || kernel[i] < 1) refuse_unsupported("an open or empty dimension");
    const int64_t reach = checked_multiply(kernel[i] - 1, conv->window.dilations[i]);
    const int64_t full =
        checked_add(checked_multiply(x[i + 1] - 1, conv->window.strides[i]), checked_add(reach, 1));
    // The pads of the convolution of which this is the transpose; a larger output ends in zeros.
    begin.push_back(same ? std::max<int64_t>(0, full - shape[i + 1]) / 2 : 0);
    const int64_t after = full - shape[i + 1] - begin.back();
    end.push_back(std::max<int64_t>(0, after));
    conv->output_padding[i] = std::max<int64_t>(0, -after);
  }
  begin.insert(begin.end(), end.begin(), end.end());
  conv->window.pads = std::move(begin);
  emit_volume(call, std::move(conv), std::move(values), options.activation());
}

}  // namespace vellum::tflite

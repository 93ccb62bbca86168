#include "passes/fuse/channel_affine.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/reduction/normalization.hpp"

namespace vellum {

std::optional<std::vector<double>> per_channel(const HostTensor& constant, const Shape& data) {
  const Shape& shape = constant.shape();
  if (data.size() < 2 || shape.size() > data.size()) return std::nullopt;
  const size_t missing = data.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool channel = i + missing == 1;
    if (shape[i] != 1 && !(channel && shape[i] == data[1])) return std::nullopt;
  }
  const std::vector<float> elements = constant.to_floats();
  std::vector<double> result(static_cast<size_t>(data[1]));
  for (size_t c = 0; c < result.size(); ++c) result[c] = double{elements[elements.size() == 1 ? 0 : c]};
  return result;
}

// https://onnx.ai/onnx/operators/onnx__BatchNormalization.html:
// Y = scale * (X - mean) / sqrt(variance + epsilon) + B
std::optional<ChannelAffine> affine_of_norm(const GraphEditor& editor, size_t index) {
  const auto norm = match_node<BatchNormalization>(editor, index);
  if (!norm || norm->activation) return std::nullopt;
  std::vector<std::vector<float>> parameters;
  for (size_t slot = 1; slot <= 4; ++slot) {
    const HostTensor* constant = editor.constant_input(index, slot);
    if (constant == nullptr) return std::nullopt;
    parameters.push_back(constant->to_floats());
  }
  const auto& [scale, shift, mean, variance] =
      std::tie(parameters[0], parameters[1], parameters[2], parameters[3]);
  ChannelAffine affine;
  for (size_t c = 0; c < scale.size(); ++c) {
    affine.scale.push_back(double{scale[c]} / std::sqrt(double{variance[c]} + double{norm->epsilon}));
    affine.shift.push_back(double{shift[c]} - double{mean[c]} * affine.scale.back());
  }
  return affine;
}

namespace {

// A linear operator: which output channel each weight belongs to, and the bias before the change.
struct Linear {
  std::shared_ptr<const Operator> op;  // of a Gemm with beta = 1: the bias is multiplied by the former beta
  std::vector<double> bias;
  size_t channels = 0;
  // Weight i belongs to output channel (i / inner) % period + stride * group, with group = i / group_size.
  size_t inner = 1, period = 1, stride = 0, group_size = 1;

  size_t channel_of(size_t i) const { return (i / inner) % period + stride * (i / group_size); }
};

size_t elements_from(const Shape& shape, size_t axis) {
  size_t count = 1;
  for (size_t i = axis; i < shape.size(); ++i) count *= static_cast<size_t>(shape[i]);
  return count;
}

// W is (M, C / group, kernel...).
std::optional<Linear> as_linear(const Conv& conv, const Shape& weights) {
  if (conv.activation) return std::nullopt;
  Linear linear;
  auto op = std::make_shared<Conv>(conv);
  op->fixed_point = nullptr;  // of other weights
  linear.op = std::move(op);
  linear.channels = static_cast<size_t>(weights[0]);
  linear.inner = elements_from(weights, 1);
  linear.period = linear.channels;
  linear.group_size = linear.inner * linear.channels;
  return linear;
}

// W is (C, M / group, kernel...): each group has C / group slices of dimension 0.
std::optional<Linear> as_linear(const ConvTranspose& conv, const Shape& weights) {
  if (conv.activation) return std::nullopt;
  Linear linear;
  linear.op = std::make_shared<ConvTranspose>(conv);
  linear.period = static_cast<size_t>(weights[1]);
  linear.channels = linear.period * static_cast<size_t>(conv.group);
  linear.inner = elements_from(weights, 2);
  linear.stride = linear.period;
  linear.group_size = elements_from(weights, 1) * static_cast<size_t>(weights[0] / conv.group);
  return linear;
}

// B is (K, N), or (N, K) transposed.
std::optional<Linear> as_linear(const Gemm& gemm, const Shape& weights) {
  if (gemm.activation) return std::nullopt;
  Linear linear;
  const auto op = std::make_shared<Gemm>(gemm);
  op->beta = 1.0f;
  linear.op = op;
  linear.channels = static_cast<size_t>(weights[gemm.transpose_b ? 0 : 1]);
  linear.inner = gemm.transpose_b ? static_cast<size_t>(weights[1]) : 1;
  linear.period = linear.channels;
  linear.group_size = elements_from(weights, 0);
  return linear;
}

std::optional<Linear> as_linear(const Operator& op, const Shape& weights) {
  if (const auto* conv = dynamic_cast<const Conv*>(&op)) return as_linear(*conv, weights);
  if (const auto* transposed = dynamic_cast<const ConvTranspose*>(&op))
    return as_linear(*transposed, weights);
  if (const auto* gemm = dynamic_cast<const Gemm*>(&op)) return as_linear(*gemm, weights);
  return std::nullopt;
}

// The linear operator at `index` with its bias, where weights and bias are constant.
std::optional<Linear> find_linear(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  if (node.inputs.size() > 3) return std::nullopt;  // a residual is added after the weights
  const HostTensor* weights = editor.constant_input(index, 1);
  if (weights == nullptr || weights->elements() == 0 || !is_float_value(editor, node.inputs[1]))
    return std::nullopt;
  auto linear = as_linear(*node.op, weights->shape());
  if (!linear) return std::nullopt;
  linear->bias.assign(linear->channels, 0.0);
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return linear;
  const HostTensor* bias = editor.constant_input(index, 2);
  if (bias == nullptr) return std::nullopt;
  // The bias of a convolution is a vector of channels; the C of a Gemm broadcasts to (M, N).
  const auto channels = static_cast<int64_t>(linear->channels);
  const auto elements = per_channel(*bias, {editor.type(node.outputs[0]).shape[0], channels});
  if (!elements) return std::nullopt;
  const auto* gemm = dynamic_cast<const Gemm*>(node.op.get());
  const double factor = gemm ? double{gemm->beta} : 1.0;
  std::transform(elements->begin(), elements->end(), linear->bias.begin(),
                 [&](double b) { return b * factor; });
  return linear;
}

bool all_finite(const HostTensor& tensor) {
  const std::vector<float> elements = tensor.to_floats();
  return std::all_of(elements.begin(), elements.end(), [](float x) { return std::isfinite(x); });
}

HostTensor scaled_weights(DType dtype, const HostTensor& weights, const Linear& linear,
                          const std::vector<double>& scale) {
  std::vector<float> elements = weights.to_floats();
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<float>(double{elements[i]} * scale[linear.channel_of(i)]);
  }
  return HostTensor::from<float>(dtype, weights.shape(), elements);
}

HostTensor new_bias(DType dtype, const Linear& linear, const ChannelAffine& affine) {
  std::vector<float> elements(linear.channels);
  for (size_t c = 0; c < elements.size(); ++c) {
    elements[c] = static_cast<float>(linear.bias[c] * affine.scale[c] + affine.shift[c]);
  }
  return HostTensor::from<float>(dtype, {static_cast<int64_t>(elements.size())}, elements);
}

}  // namespace

bool fold_affine(GraphEditor& editor, size_t index, size_t slot, const ChannelAffine& affine) {
  const ValueId input = editor.node(index).inputs[slot], output = editor.node(index).outputs[0];
  const auto source = editor.producer(input);
  if (!source || editor.only_reader(input) != index || editor.type(input) != editor.type(output))
    return false;
  const auto linear = find_linear(editor, *source);
  if (!linear || affine.scale.size() != linear->channels) return false;

  const HostTensor& weights = *editor.constant_input(*source, 1);
  const bool scales =
      std::any_of(affine.scale.begin(), affine.scale.end(), [](double s) { return s != 1.0; });
  // In the type of the output: halves would be rounded again.
  const DType dtype = editor.type(output).dtype;
  HostTensor folded = scales ? scaled_weights(dtype, weights, *linear, affine.scale) : weights;
  HostTensor bias = new_bias(dtype, *linear, affine);
  // fp16 overflows easily; then both operators stay.
  if (!all_finite(folded) || !all_finite(bias)) return false;

  std::vector<ValueId> inputs = editor.node(*source).inputs;
  const std::string name = editor.node(*source).name;
  if (scales) inputs[1] = editor.add_constant(name + "/folded_weights", std::move(folded));
  inputs.resize(3);
  inputs[2] = editor.add_constant(name + "/folded_bias", std::move(bias));
  editor.remove(index);
  editor.replace(*source, linear->op, std::move(inputs));
  editor.set_outputs(*source, {output});
  return true;
}

void fold_binary_constants(Graph& graph, AffineRule rule) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    const auto binary = match_binary_constant(editor, index);
    if (!binary) continue;
    const auto affine = rule(*binary, editor.type(editor.node(index).outputs[0]).shape);
    if (affine) fold_affine(editor, index, binary->data_slot, *affine);
  }
  editor.commit();
}

}  // namespace vellum

#include "passes/layout/frame_form.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "graph/operator_support.hpp"
#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/stack_frames.hpp"
#include "passes/rewrite/build.hpp"

namespace vellum {
namespace {

struct DepthWindow {
  WindowPlacement all;
  int64_t kernel() const { return all.kernel[0]; }
  bool covers_one_frame() const {
    return kernel() == 1 && all.strides[0] == 1 && all.pads_begin[0] == 0 && all.output[0] == all.input[0];
  }
};

bool is_constant(const Graph& graph, const Node& node, size_t slot) {
  return node.inputs.size() > slot && node.inputs[slot] != kNoValue && graph.constant(node.inputs[slot]);
}

// The frames that the window's pictures from `first` on read, `count` of them side by side.
ValueId stack(FrameBuilder& builder, ValueId x, const DepthWindow& window, int64_t first, int64_t count) {
  auto op = std::make_shared<StackFrames>();
  op->frames = window.all.input[0];
  op->output_frames = window.all.output[0];
  op->kernel = count;
  op->stride = window.all.strides[0];
  op->dilation = window.all.dilations[0];
  op->padding = window.all.pads_begin[0] - first * window.all.dilations[0];
  const bool is_x = count == 1 && op->stride == 1 && op->padding == 0 && op->frames == op->output_frames;
  if (is_x) return x;
  return builder.compute(std::move(op), {x});
}

// Weights (M, C, depth, H, W) of all pictures of a window as (M, depth * D, H, W), D being C in whole slices.
HostTensor weights_of_stack(const HostTensor& weights) {
  const Shape& w = weights.shape();
  const int64_t plane = w[3] * w[4], stacked = stacked_channels(w[1], w[2]);
  const std::vector<float> from = weights.to_floats();
  std::vector<float> to(static_cast<size_t>(w[0] * w[2] * stacked * plane));
  for (int64_t m = 0; m < w[0]; ++m)
    for (int64_t c = 0; c < w[1]; ++c)
      for (int64_t k = 0; k < w[2]; ++k)
        std::copy_n(from.begin() + ((m * w[1] + c) * w[2] + k) * plane, plane,
                    to.begin() + ((m * w[2] + k) * stacked + c) * plane);
  return HostTensor::from<float>(weights.dtype(), {w[0], w[2] * stacked, w[3], w[4]}, to);
}

// The weights of one picture of a window.
HostTensor weights_of_picture(const HostTensor& weights, int64_t k) {
  const Shape& w = weights.shape();
  const auto strides = row_major_strides(w);
  return gather_strided(weights, {w[0], w[1], w[3], w[4]}, {strides[0], strides[1], strides[3], strides[4]},
                        k * strides[2]);
}

std::vector<ValueId> conv_inputs(FrameBuilder& builder, ValueId x, HostTensor weights, ValueId bias) {
  std::vector<ValueId> inputs{x, builder.add_constant(std::move(weights))};
  if (bias != kNoValue) inputs.push_back(bias);
  return inputs;
}

// The elements of a tensor that any device can bind (maxStorageBufferRange), in fp32.
constexpr int64_t kMostStacked = (int64_t{1} << 27) / 8;

// Whether the pictures of all windows side by side are a tensor of a size to avoid.
bool is_large_stack(const WindowPlacement& window, const Shape& x) {
  const int64_t pictures = x[0] / window.input[0] * window.output[0];
  return pictures * window.kernel[0] * stacked_channels(x[1], window.kernel[0]) * x[2] * x[3] > kMostStacked;
}

// Each picture of a window by itself, and their sum: with groups, whose channels must stay side by side, and
// where a window of pictures is large.
ValueId sum_of_pictures(FrameBuilder& builder, ValueId x, const DepthWindow& window,
                        const std::shared_ptr<Conv>& conv, const HostTensor& weights, ValueId bias) {
  ValueId sum = kNoValue;
  for (int64_t k = 0; k < window.kernel(); ++k) {
    const ValueId frames = stack(builder, x, window, k, 1);
    const ValueId part = builder.compute(
        conv, conv_inputs(builder, frames, weights_of_picture(weights, k), k == 0 ? bias : kNoValue));
    sum = sum == kNoValue ? part : builder.compute(std::make_shared<Binary>(), {part, sum});
  }
  return sum;
}

ValueId convolve(FrameBuilder& builder, const Conv& volumes) {
  const Node node = builder.node();
  const HostTensor weights = *builder.constant(node.inputs[1]);
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
  const OperatorInput inputs[] = {{true, builder.type(node.inputs[0]), nullptr},
                                  {true, builder.type(node.inputs[1]), nullptr}};
  const DepthWindow window{volumes.place(inputs)};
  auto conv = std::make_shared<Conv>();
  conv->window = pictures_of(window.all);
  conv->group = volumes.group;
  const ValueId x = builder.frames_of(node.inputs[0]);
  if (window.covers_one_frame())
    return builder.compute(conv, conv_inputs(builder, x, weights_of_picture(weights, 0), bias));
  if (conv->group != 1 || is_large_stack(window.all, builder.type(x).shape))
    return sum_of_pictures(builder, x, window, conv, weights, bias);
  const ValueId stacked = stack(builder, x, window, 0, window.kernel());
  return builder.compute(conv, conv_inputs(builder, stacked, weights_of_stack(weights), bias));
}

WindowPlacement placement_of(const Graph& graph, const Node& node, const ConvTranspose& op) {
  return op.place(operator_inputs(graph, node));
}

// Every stride-th picture of the output of a transposed convolution, from `phase` on, is a transposed
// convolution of `count` neighbouring pictures of the input, the last of which has weights `first`.
struct Phase {
  int64_t first = 0, count = 0;
  int64_t padding = 0;  // of the window of neighbours
};

Phase phase_of(const WindowPlacement& window, int64_t phase) {
  const int64_t stride = window.strides[0], first = (phase + window.pads_begin[0]) % stride;
  const int64_t count = first < window.kernel[0] ? (window.kernel[0] - first - 1) / stride + 1 : 0;
  return {first, count, count - 1 - (phase + window.pads_begin[0] - first) / stride};
}

// Weights (C, M, depth, H, W) of a phase as (count * D, M, H, W), D being C in whole slices.
HostTensor weights_of_phase(const HostTensor& weights, const Phase& phase, int64_t stride) {
  const Shape& w = weights.shape();
  const int64_t plane = w[3] * w[4], stacked = stacked_channels(w[0], phase.count);
  const std::vector<float> from = weights.to_floats();
  std::vector<float> to(static_cast<size_t>(phase.count * stacked * w[1] * plane));
  for (int64_t k = 0; k < phase.count; ++k)
    for (int64_t c = 0; c < w[0]; ++c)
      for (int64_t m = 0; m < w[1]; ++m) {
        const int64_t depth = phase.first + stride * (phase.count - 1 - k);
        std::copy_n(from.begin() + ((c * w[1] + m) * w[2] + depth) * plane, plane,
                    to.begin() + ((k * stacked + c) * w[1] + m) * plane);
      }
  return HostTensor::from<float>(weights.dtype(), {phase.count * stacked, w[1], w[3], w[4]}, to);
}

// The phases side by side in the channels are the pictures of the output in their order.
ValueId convolve_transposed(FrameBuilder& builder, const ConvTranspose& volumes,
                            const WindowPlacement& window) {
  const Node node = builder.node();
  const HostTensor weights = *builder.constant(node.inputs[1]);
  const ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : kNoValue;
  const ValueId x = builder.frames_of(node.inputs[0]);
  const int64_t stride = window.strides[0];
  auto op = std::make_shared<ConvTranspose>();
  op->window = pictures_of(window);
  if (!volumes.output_padding.empty())
    op->output_padding = {volumes.output_padding[1], volumes.output_padding[2]};
  std::vector<ValueId> phases;
  for (int64_t i = 0; i < stride; ++i) {
    const Phase phase = phase_of(window, i);
    auto frames = std::make_shared<StackFrames>();
    frames->frames = window.input[0];
    frames->output_frames = window.output[0] / stride;
    frames->kernel = phase.count;
    frames->padding = phase.padding;
    const bool all = phase.count == 1 && phase.padding == 0 && frames->frames == frames->output_frames;
    const ValueId stacked = all ? x : builder.compute(std::move(frames), {x});
    phases.push_back(
        builder.compute(op, conv_inputs(builder, stacked, weights_of_phase(weights, phase, stride), bias)));
  }
  if (phases.size() == 1) return phases.front();
  auto join = std::make_shared<Concat>();
  join->axis = 1;
  const ValueId y = builder.compute(std::move(join), phases);
  const Shape shape = builder.type(y).shape;
  return builder.compute(reshape_to({shape[0] * stride, shape[1] / stride, shape[2], shape[3]}), {y});
}

bool can_convolve_transposed(const Graph& graph, const Node& node, const ConvTranspose& op) {
  if (op.group != 1 || op.activation || node.inputs.size() > 3 || !op.output_shape.empty()) return false;
  const WindowPlacement window = placement_of(graph, node, op);
  return window.kernel[0] >= window.strides[0] && window.dilations[0] == 1 && window.pads_begin[0] >= 0 &&
         window.output[0] % window.strides[0] == 0;
}

}  // namespace

Window pictures_of(const WindowPlacement& volumes) {
  const auto last_two = [](const std::vector<int64_t>& list) {
    return std::vector<int64_t>{list[1], list[2]};
  };
  Window window;
  window.kernel = last_two(volumes.kernel);
  window.strides = last_two(volumes.strides);
  window.dilations = last_two(volumes.dilations);
  window.pads = {volumes.pads_begin[1], volumes.pads_begin[2], volumes.pads_end[1], volumes.pads_end[2]};
  return window;
}

ValueId FrameBuilder::compute(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
  std::vector<OperatorInput> known;
  for (const ValueId input : inputs) known.push_back({true, editor_.type(input), editor_.constant(input)});
  const TensorType type = op->infer(known).front();
  return editor_.compute_before(index_, editor_.node(index_).name + "/frames", std::move(op),
                                std::move(inputs), type);
}

bool is_convolution_of_volumes(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.outputs.size() != 1) return false;
  const TensorType& x = graph.values[node.inputs[0]].type;
  if (x.shape.size() != kVolumeRank || !is_float(x.dtype) || !is_constant(graph, node, 1) ||
      element_count(x.shape) == 0 || element_count(graph.values[node.outputs[0]].type.shape) == 0)
    return false;
  const auto* conv = dynamic_cast<const Conv*>(node.op.get());
  if (conv != nullptr) return !conv->activation && node.inputs.size() <= 3;
  const auto* transposed = dynamic_cast<const ConvTranspose*>(node.op.get());
  return transposed != nullptr && can_convolve_transposed(graph, node, *transposed);
}

ValueId convolve_frames(FrameBuilder& builder) {
  const auto op = builder.node().op;
  if (const auto* conv = dynamic_cast<const Conv*>(op.get())) return convolve(builder, *conv);
  const auto& transposed = dynamic_cast<const ConvTranspose&>(*op);
  return convolve_transposed(builder, transposed, placement_of(builder.graph(), builder.node(), transposed));
}

}  // namespace vellum

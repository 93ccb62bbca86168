// Sums of convolutions of one tensor become one convolution, whose window holds all of theirs. RepVGG,
// MobileOne, FastViT and GhostNetV3 have such sums while they are trained, with the tensor itself or its
// BatchNormalization as a further summand (Ding et al., RepVGG: Making VGG-style ConvNets Great Again, arXiv
// 2101.03697, section 3.3), and are often exported so.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/fuse/channel_affine.hpp"
#include "passes/fuse/window_within.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

// A summand: a convolution, or a factor and a shift of each channel, which a window of one pixel computes.
struct Summand {
  std::optional<size_t> index;  // its node; nothing: the tensor itself
  ValueId x = kNoValue;
  std::shared_ptr<const Conv> conv;  // null: a factor of each channel
  WindowPlacement window;            // of three spatial axes
  std::vector<double> weights;       // (M, C / group, kernel) of a convolution, else (C)
  std::vector<double> bias;          // (M)
  Shape shape;                       // of the convolution's weights
};

std::vector<double> doubles(const HostTensor& tensor) {
  const std::vector<float> elements = tensor.to_floats();
  return {elements.begin(), elements.end()};
}

std::optional<Summand> convolution(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  const auto conv = std::dynamic_pointer_cast<const Conv>(node.op);
  if (!conv || conv->activation || conv->fixed_point || !conv->channel_taps.empty() || node.inputs.size() > 3)
    return std::nullopt;
  const HostTensor* weights = editor.constant_input(index, 1);
  if (weights == nullptr || weights->elements() == 0 || !is_float_value(editor, node.inputs[1]))
    return std::nullopt;
  Summand summand{.index = index, .x = node.inputs[0], .conv = conv, .window = {}, .shape = weights->shape()};
  summand.bias.assign(static_cast<size_t>(weights->shape()[0]), 0.0);
  if (node.inputs.size() == 3 && node.inputs[2] != kNoValue) {
    const HostTensor* bias = editor.constant_input(index, 2);
    if (bias == nullptr) return std::nullopt;
    summand.bias = doubles(*bias);
  }
  summand.window = as_3d(conv->place(operator_inputs(editor.graph(), node)));
  summand.weights = doubles(*weights);
  return summand;
}

// Returns nothing if the value has other readers: then the sum saves nothing.
std::optional<Summand> summand_of(const GraphEditor& editor, ValueId value, size_t reader) {
  const auto source = editor.producer(value);
  if (!source || editor.only_reader(value) != reader) return std::nullopt;
  if (editor.node(*source).outputs.size() != 1) return std::nullopt;
  if (auto found = convolution(editor, *source)) return found;
  const auto affine = affine_of_norm(editor, *source);
  if (!affine) return std::nullopt;
  return Summand{.index = *source,
                 .x = editor.node(*source).inputs[0],
                 .conv = nullptr,
                 .window = {},
                 .weights = affine->scale,
                 .bias = affine->shift,
                 .shape = {}};
}

// The window of one pixel at the pixel itself, as which a factor of each channel counts.
WindowPlacement pixel_of(const WindowPlacement& window) {
  WindowPlacement pixel = window;
  pixel.kernel = {1, 1, 1};
  pixel.strides = pixel.dilations = {1, 1, 1};
  pixel.pads_begin = pixel.pads_end = {0, 0, 0};
  return pixel;
}

// Calls add(weight of `outer`, weight of `inner`) for each weight of `inner`.
template <typename Add>
void for_each_weight(const Summand& inner, const Summand& outer, const std::array<int64_t, 3>& first,
                     Add add) {
  const auto sizes = [](const Shape& kernel) { return kernel[0] * kernel[1] * kernel[2]; };
  const Shape& large = outer.window.kernel;
  const int64_t outputs = outer.shape[0], inputs = outer.shape[1], taps = sizes(large);
  const auto at = [&](int64_t m, int64_t c, int64_t z, int64_t y, int64_t x) {
    return static_cast<size_t>((m * inputs + c) * taps +
                               ((first[0] + z) * large[1] + first[1] + y) * large[2] + first[2] + x);
  };
  if (!inner.conv) {
    for (int64_t m = 0; m < outputs; ++m) add(at(m, m % inputs, 0, 0, 0), static_cast<size_t>(m));
    return;
  }
  const Shape& small = inner.window.kernel;
  size_t i = 0;
  for (int64_t m = 0; m < outputs; ++m)
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t z = 0; z < small[0]; ++z)
        for (int64_t y = 0; y < small[1]; ++y)
          for (int64_t x = 0; x < small[2]; ++x) add(at(m, c, z, y, x), i++);
}

// Adds `inner` to the weights of `outer`. Returns false, and changes nothing, if they do not fit.
bool add_to(Summand& outer, const Summand& inner) {
  if (!outer.conv || outer.x != inner.x || outer.bias.size() != inner.bias.size()) return false;
  if (inner.conv && (inner.conv->group != outer.conv->group || inner.shape[1] != outer.shape[1]))
    return false;
  if (!inner.conv && outer.shape[0] != outer.shape[1] * outer.conv->group) return false;
  const auto first = window_within(inner.conv ? inner.window : pixel_of(outer.window), outer.window);
  if (!first) return false;
  for_each_weight(inner, outer, *first,
                  [&](size_t to, size_t from) { outer.weights[to] += inner.weights[from]; });
  for (size_t m = 0; m < outer.bias.size(); ++m) outer.bias[m] += inner.bias[m];
  return true;
}

std::optional<HostTensor> finite(DType dtype, Shape shape, const std::vector<double>& elements) {
  const std::vector<float> floats(elements.begin(), elements.end());
  HostTensor tensor = HostTensor::from<float>(dtype, std::move(shape), floats);
  const std::vector<float> stored = tensor.to_floats();
  if (!std::all_of(stored.begin(), stored.end(), [](float x) { return std::isfinite(x); }))
    return std::nullopt;
  return tensor;
}

// Node `index` is the sum of the two summands, which only it reads.
void replace_sum(GraphEditor& editor, size_t index, const Summand& merged, const Summand& other) {
  const DType dtype = editor.type(editor.node(index).outputs[0]).dtype;
  auto weights = finite(dtype, merged.shape, merged.weights);
  auto bias = finite(dtype, {merged.shape[0]}, merged.bias);
  if (!weights || !bias) return;
  const std::string name = editor.node(*merged.index).name;
  const ValueId w = editor.add_constant(name + "/merged_weights", std::move(*weights)),
                b = editor.add_constant(name + "/merged_bias", std::move(*bias));
  editor.replace(index, merged.conv, {merged.x, w, b});
  for (const Summand* summand : {&merged, &other})
    if (summand->index) editor.remove(*summand->index);
}

// The tensor itself.
Summand tensor_itself(const GraphEditor& editor, ValueId x) {
  const Shape& shape = editor.type(x).shape;
  const size_t channels = shape.size() > 1 ? static_cast<size_t>(shape[1]) : 0;
  return {.index = std::nullopt,
          .x = x,
          .conv = nullptr,
          .window = {},
          .weights = std::vector(channels, 1.0),
          .bias = std::vector(channels, 0.0),
          .shape = {}};
}

void negate(Summand& summand) {
  for (double& weight : summand.weights) weight = -weight;
  for (double& bias : summand.bias) bias = -bias;
}

// Returns what a Conv or a BatchNormalization that only `reader` reads is computed from; kNoValue for others.
ValueId tensor_of(const GraphEditor& editor, ValueId value, size_t reader) {
  const bool is_linear =
      match_producer<Conv>(editor, value) || match_producer<BatchNormalization>(editor, value);
  return is_linear && editor.only_reader(value) == reader ? editor.node(*editor.producer(value)).inputs[0]
                                                          : kNoValue;
}

// Returns whether the operands of node `index` are computed from one tensor, or one of them is that tensor.
// Most sums are of others: their weights need not be read.
bool have_one_tensor(const GraphEditor& editor, size_t index, ValueId a, ValueId b) {
  const ValueId of_a = tensor_of(editor, a, index), of_b = tensor_of(editor, b, index);
  return of_a == b || of_b == a || (of_a == of_b && of_a != kNoValue);
}

// Returns whether the convolutions of a sum `y` stay apart: their weights are integers of the file, the sum
// of two grids would be floats, and these would take more bytes than the summand that is stored otherwise.
bool stay_apart(const GraphEditor& editor, const Summand& left, const Summand& right, ValueId y) {
  constexpr int64_t kAddedToByte = 3, kFloat = 4;
  if (!editor.graph().has_integer_weights) return false;
  const auto weights = [](const Summand& summand) {
    return summand.conv ? static_cast<int64_t>(summand.weights.size()) : 0;
  };
  return kAddedToByte * std::max(weights(left), weights(right)) >
         kFloat * element_count(editor.type(y).shape);
}

void merge_summands(GraphEditor& editor, size_t index) {
  const bool subtracts{match_binary_node(editor, index, BinaryKind::sub)};
  if (!subtracts && !match_binary_node(editor, index, BinaryKind::add)) return;
  const Node& sum = editor.node(index);
  const ValueId a = sum.inputs[0], b = sum.inputs[1], y = sum.outputs[0];
  if (!is_float_value(editor, y) || a == b || editor.type(a) != editor.type(y) ||
      editor.type(b) != editor.type(y) || !have_one_tensor(editor, index, a, b))
    return;
  auto left = summand_of(editor, a, index), right = summand_of(editor, b, index);
  if (!left && right && right->x == a) left = tensor_itself(editor, a);
  if (!right && left && left->x == b) right = tensor_itself(editor, b);
  if (!left || !right || stay_apart(editor, *left, *right, y)) return;
  if (subtracts) negate(*right);
  if (add_to(*left, *right))
    replace_sum(editor, index, *left, *right);
  else if (add_to(*right, *left))
    replace_sum(editor, index, *right, *left);
}

}  // namespace

void merge_convolutions(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) merge_summands(editor, index);
  editor.commit();
}

}  // namespace vellum

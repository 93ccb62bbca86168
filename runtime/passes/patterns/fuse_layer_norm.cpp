#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "graph/operators/reduction/reduce.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// The mean of `input` over its dimensions from `axis` on, or over dimension `axis` alone: the channels of
// images. They stay as dimensions of 1.
struct Mean {
  ValueId input = kNoValue;
  size_t axis = 0;
  bool of_channels = false;
  bool operator==(const Mean&) const = default;
};

// A value without Reshapes and Expands that leave its elements in order: JAX inserts the dimensions of 1 with
// them.
ValueId without_inserted_dimensions(const GraphEditor& editor, ValueId value) {
  for (;;) {
    ValueId input = kNoValue;
    if (const auto reshape = match_producer<ReshapeFamily>(editor, value)) input = reshape.input();
    if (const auto expand = match_producer<Expand>(editor, value)) input = expand.input();
    if (input == kNoValue ||
        element_count(editor.type(input).shape) != element_count(editor.type(value).shape))
      return value;
    value = input;
  }
}

// The mean that a Reduce computes, or a sum and the division by the number of its terms.
std::optional<Mean> match_reduced_mean(const GraphEditor& editor, ValueId value) {
  double factor = 1.0;
  if (const auto step = match_scalar(editor, value); step && step->kind == BinaryKind::mul) {
    factor = step->scalar;
    value = without_inserted_dimensions(editor, step->input);
  }
  const auto reduce = match_producer<Reduce>(editor, value);
  if (!reduce || (reduce->kind != ReduceKind::mean && reduce->kind != ReduceKind::sum)) return std::nullopt;
  if (reduce->fixed_mean) return std::nullopt;  // of integers
  const auto axes = reduce->reduced_axes(operator_inputs(editor.graph(), *reduce.node));
  const Shape& shape = editor.type(reduce.input()).shape;
  const size_t rank = shape.size();
  double count = 1.0;
  if (reduce->kind == ReduceKind::sum)
    for (const size_t axis : axes) count *= static_cast<double>(shape[axis]);
  constexpr double kRounding = 1e-6;
  if (std::fabs(factor * count - 1.0) > kRounding) return std::nullopt;
  constexpr int64_t kMostChannels = int64_t{1} << 16;  // whose loop the kernel need not split
  if (rank == 4 && axes == std::vector<size_t>{1} && shape[1] <= kMostChannels)
    return Mean{reduce.input(), 1, true};
  // The axes are sorted and distinct: they are the last ones where the first of them is.
  if (axes.empty() || axes.front() != rank - axes.size()) return std::nullopt;
  return Mean{reduce.input(), axes.front()};
}

// Whether the reduced dimensions of the mean stay in `value` as dimensions of 1.
bool keeps_dimensions(const GraphEditor& editor, ValueId value, const Mean& mean) {
  Shape kept = editor.type(mean.input).shape;
  if (mean.of_channels)
    kept[1] = 1;
  else
    std::fill(kept.begin() + static_cast<std::ptrdiff_t>(mean.axis), kept.end(), 1);
  return editor.type(value).shape == kept;
}

std::optional<Mean> match_mean(const GraphEditor& editor, ValueId value) {
  const auto mean = match_reduced_mean(editor, without_inserted_dimensions(editor, value));
  return mean && keeps_dimensions(editor, value, *mean) ? mean : std::nullopt;
}

// value = mean of x^2 - (mean of x)^2, at least 0, as JAX computes the variance: the mean of x
std::optional<Mean> match_variance_of_moments(const GraphEditor& editor, ValueId value) {
  ValueId inner = without_inserted_dimensions(editor, value);
  if (const auto bounded = match_binary(editor, inner, BinaryKind::max)) {
    for (const size_t slot : {0, 1}) {
      const HostTensor* bound = editor.constant((*bounded)[slot]);
      if (bound != nullptr && bound->elements() == 1 && bound->to_floats()[0] == 0.0f)
        inner = without_inserted_dimensions(editor, (*bounded)[1 - slot]);
    }
  }
  const auto moments = match_binary(editor, inner, BinaryKind::sub);
  const auto of_squares =
      moments ? match_reduced_mean(editor, without_inserted_dimensions(editor, (*moments)[0])) : std::nullopt;
  const auto x = of_squares ? match_square(editor, of_squares->input) : std::nullopt;
  const auto squared = x ? match_square(editor, (*moments)[1]) : std::nullopt;
  const auto mean = squared ? match_reduced_mean(editor, without_inserted_dimensions(editor, *squared))
                            : std::optional<Mean>();
  if (!mean || *mean != Mean{*x, of_squares->axis, of_squares->of_channels}) return std::nullopt;
  return keeps_dimensions(editor, value, *mean) ? mean : std::nullopt;
}

// value = x - mean of x: that mean
std::optional<Mean> match_deviation(const GraphEditor& editor, ValueId value) {
  const auto operands = match_binary(editor, value, BinaryKind::sub);
  const auto mean = operands ? match_mean(editor, (*operands)[1]) : std::nullopt;
  return mean && mean->input == (*operands)[0] ? mean : std::nullopt;
}

// Without `centred` the mean counts as 0: what is divided is the mean's input itself (RMSNormalization).
struct Deviation {
  Mean mean;
  float epsilon = 0.0f;
  bool centred = true;
};

// value = sqrt(mean of the squared deviation + epsilon)
std::optional<Deviation> match_standard_deviation(const GraphEditor& editor, ValueId value) {
  const auto sum = match_unary(editor, value, UnaryKind::sqrt);
  const auto step = sum ? match_scalar(editor, *sum) : std::nullopt;
  if (!step || step->kind != BinaryKind::add || step->scalar < 0.0) return std::nullopt;
  const auto epsilon = static_cast<float>(step->scalar);
  if (const auto mean = match_variance_of_moments(editor, step->input)) return Deviation{*mean, epsilon};
  const auto variance = match_mean(editor, step->input);
  const auto deviation = variance ? match_square(editor, variance->input) : std::nullopt;
  if (!deviation) return std::nullopt;
  const auto mean = match_deviation(editor, *deviation);
  const Mean squared{*deviation, variance->axis, variance->of_channels};
  if (mean && *mean == Mean{mean->input, squared.axis, squared.of_channels}) return Deviation{*mean, epsilon};
  return Deviation{squared, epsilon, false};
}

std::optional<Deviation> match_inverse_deviation(const GraphEditor& editor, ValueId value) {
  const auto deviation = match_unary(editor, value, UnaryKind::reciprocal);
  if (deviation) return match_standard_deviation(editor, *deviation);
  // 1 / x as a Div
  const auto quotient = match_binary(editor, value, BinaryKind::div);
  const HostTensor* one = quotient ? editor.constant((*quotient)[0]) : nullptr;
  if (one == nullptr || one->elements() != 1 || one->to_floats()[0] != 1.0f) return std::nullopt;
  return match_standard_deviation(editor, (*quotient)[1]);
}

// (x - mean) / deviation (torch), or times its inverse (Paddle).
std::optional<Deviation> match_quotient(const GraphEditor& editor, ValueId value) {
  std::optional<Deviation> found;
  ValueId numerator = kNoValue;
  if (const auto quotient = match_binary(editor, value, BinaryKind::div)) {
    found = match_standard_deviation(editor, (*quotient)[1]);
    numerator = (*quotient)[0];
  } else if (const auto product = match_binary(editor, value, BinaryKind::mul)) {
    for (size_t slot = 0; slot < 2 && !found; ++slot) {
      found = match_inverse_deviation(editor, (*product)[slot]);
      numerator = (*product)[1 - slot];
    }
  }
  if (!found) return std::nullopt;
  const bool is_deviation =
      found->centred ? match_deviation(editor, numerator) == found->mean : numerator == found->mean.input;
  return is_deviation ? found : std::nullopt;
}

// The dimensions of scale and bias.
Shape factor_dimensions(const GraphEditor& editor, const Mean& mean) {
  const Shape& shape = editor.type(mean.input).shape;
  if (mean.of_channels) return {shape[1], 1, 1};
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(mean.axis), shape.end());
}

std::shared_ptr<const Operator> norm_of(const GraphEditor& editor, const Deviation& found) {
  if (found.mean.of_channels) {
    auto op = std::make_shared<ChannelNormalization>();
    op->epsilon = found.epsilon;
    op->centred = found.centred;
    return op;
  }
  auto op = std::make_shared<LayerNormalization>();
  op->axis = static_cast<int64_t>(found.mean.axis) - std::ssize(editor.type(found.mean.input).shape);
  op->epsilon = found.epsilon;
  op->centred = found.centred;
  return op;
}

// Node `index` becomes the normalisation. Its former operands may become dead code.
void replace_by_norm(GraphEditor& editor, size_t index, const Deviation& found, HostTensor scale,
                     std::optional<HostTensor> bias) {
  if (found.mean.of_channels) {
    scale = scale.reshaped({scale.elements()});
    if (bias) bias = bias->reshaped({bias->elements()});
  }
  const std::string name = editor.node(index).name;
  std::vector<ValueId> inputs{found.mean.input, editor.add_constant(name + "/scale", std::move(scale))};
  if (bias) inputs.push_back(editor.add_constant(name + "/bias", std::move(*bias)));
  editor.replace(index, norm_of(editor, found), std::move(inputs));
}

void fuse_quotient(GraphEditor& editor, size_t index) {
  const ValueId quotient = editor.node(index).outputs[0];
  const auto found = match_quotient(editor, quotient);
  if (!found || editor.type(found->mean.input) != editor.type(quotient)) return;
  const Shape last = factor_dimensions(editor, found->mean);
  const HostTensor one = HostTensor::from<float>(editor.type(quotient).dtype, {}, std::vector<float>{1.0f});
  HostTensor scale = *expand_to_last_dimensions(one, last);
  std::optional<HostTensor> bias;
  size_t at = index;
  ValueId result = quotient;
  if (const auto product = match_constant_reader(editor, result, BinaryKind::mul)) {
    if (auto expanded = expand_to_last_dimensions(*product->constant, last)) {
      scale = std::move(*expanded);
      at = product->index, result = product->output;
    }
  }
  // RMSNormalization has no bias.
  const auto sum = found->centred ? match_constant_reader(editor, result, BinaryKind::add) : std::nullopt;
  if (sum) {
    bias = expand_to_last_dimensions(*sum->constant, last);
    if (bias) at = sum->index;
  }
  replace_by_norm(editor, at, *found, std::move(scale), std::move(bias));
}

// r = scale / deviation.
struct Factor {
  Deviation deviation;
  HostTensor scale;
};

std::optional<Factor> match_factor(const GraphEditor& editor, ValueId value, const Shape& last) {
  const auto product = match_binary(editor, value, BinaryKind::mul);
  for (size_t slot = 0; product && slot < 2; ++slot) {
    const HostTensor* constant = editor.constant((*product)[slot]);
    if (constant == nullptr) continue;
    const auto deviation = match_inverse_deviation(editor, (*product)[1 - slot]);
    auto scale = expand_to_last_dimensions(*constant, last);
    if (deviation && deviation->centred && scale) return Factor{*deviation, std::move(*scale)};
  }
  return std::nullopt;
}

// x * r + (bias - mean * r), as TensorFlow writes it.
void fuse_two_products(GraphEditor& editor, size_t index) {
  const auto operands = match_binary(editor, editor.node(index).outputs[0], BinaryKind::add);
  if (!operands) return;
  for (size_t slot = 0; slot < 2; ++slot) {
    const auto left = match_binary(editor, (*operands)[slot], BinaryKind::mul);
    const auto right = match_binary(editor, (*operands)[1 - slot], BinaryKind::sub);
    const HostTensor* constant = right ? editor.constant((*right)[0]) : nullptr;
    const auto shift = right ? match_binary(editor, (*right)[1], BinaryKind::mul) : std::nullopt;
    if (!left || constant == nullptr || !shift) continue;
    for (size_t a = 0; a < 2; ++a) {
      for (size_t b = 0; b < 2; ++b) {
        const auto mean = match_mean(editor, (*shift)[b]);
        if (!mean || mean->input != (*left)[a] || (*left)[1 - a] != (*shift)[1 - b]) continue;
        const Shape last = factor_dimensions(editor, *mean);
        const auto factor = match_factor(editor, (*left)[1 - a], last);
        auto bias = expand_to_last_dimensions(*constant, last);
        if (factor && factor->deviation.mean == *mean && bias &&
            editor.type(mean->input) == editor.type(editor.node(index).outputs[0]))
          return replace_by_norm(editor, index, factor->deviation, factor->scale, std::move(bias));
      }
    }
  }
}

// (x - mean) * (scale / deviation) + bias, as JAX writes it.
void fuse_scaled_deviation(GraphEditor& editor, size_t index) {
  const ValueId result = editor.node(index).outputs[0];
  const auto product = match_binary(editor, result, BinaryKind::mul);
  for (size_t slot = 0; product && slot < 2; ++slot) {
    const auto mean = match_deviation(editor, (*product)[slot]);
    if (!mean || editor.type(mean->input) != editor.type(result)) continue;
    const Shape last = factor_dimensions(editor, *mean);
    auto factor = match_factor(editor, (*product)[1 - slot], last);
    if (!factor || factor->deviation.mean != *mean) continue;
    const auto sum = match_constant_reader(editor, result, BinaryKind::add);
    auto bias = sum ? expand_to_last_dimensions(*sum->constant, last) : std::nullopt;
    const size_t at = bias ? sum->index : index;
    return replace_by_norm(editor, at, factor->deviation, std::move(factor->scale), std::move(bias));
  }
}

}  // namespace

void fuse_layer_norm(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (!is_float_binary(editor, index)) continue;
    fuse_quotient(editor, index);
    fuse_two_products(editor, index);
    fuse_scaled_deviation(editor, index);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

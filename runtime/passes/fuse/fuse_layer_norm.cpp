#include <algorithm>
#include <memory>
#include <optional>

#include "graph/operators/normalization.hpp"
#include "graph/operators/reduce.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"
#include "passes/fuse/transformers.hpp"

namespace vellum {
namespace {

// The mean of `input` over its dimensions from `axis` on, which stay as ones.
struct Mean {
  ValueId input = kNoValue;
  size_t axis = 0;
  bool operator==(const Mean&) const = default;
};

std::optional<Mean> undo_mean(const GraphEditor& editor, ValueId value) {
  const auto* op = producer_as<Reduce>(editor, value);
  if (op == nullptr || op->kind != ReduceKind::mean || !op->keep_dims) return std::nullopt;
  const Node& node = editor.node(*editor.producer(value));
  const auto axes = op->reduced_axes(operator_inputs(editor.graph(), node));
  const size_t rank = editor.type(node.inputs[0]).shape.size();
  // Sorted and distinct, so they are the last ones if the first of them is.
  if (axes.empty() || axes.front() != rank - axes.size()) return std::nullopt;
  return Mean{node.inputs[0], axes.front()};
}

// value = x - mean of x
std::optional<Mean> undo_deviation(const GraphEditor& editor, ValueId value) {
  const auto operands = undo_binary(editor, value, BinaryKind::sub);
  const auto mean = operands ? undo_mean(editor, (*operands)[1]) : std::nullopt;
  return mean && mean->input == (*operands)[0] ? mean : std::nullopt;
}

struct Deviation {
  Mean of;
  float epsilon = 0.0f;
};

// value = sqrt(mean of the squared deviation from the mean + epsilon)
std::optional<Deviation> undo_standard_deviation(const GraphEditor& editor, ValueId value) {
  const auto sum = undo_unary(editor, value, UnaryKind::sqrt);
  const auto step = sum ? undo_scalar(editor, *sum) : std::nullopt;
  if (!step || step->kind != BinaryKind::add || step->scalar < 0.0) return std::nullopt;
  const auto variance = undo_mean(editor, step->input);
  const auto deviation = variance ? undo_square(editor, variance->input) : std::nullopt;
  const auto of = deviation ? undo_deviation(editor, *deviation) : std::nullopt;
  if (!of || of->axis != variance->axis) return std::nullopt;
  return Deviation{*of, static_cast<float>(step->scalar)};
}

std::optional<Deviation> undo_inverse_deviation(const GraphEditor& editor, ValueId value) {
  const auto deviation = undo_unary(editor, value, UnaryKind::reciprocal);
  if (deviation) return undo_standard_deviation(editor, *deviation);
  // 1 / x, spelt out
  const auto quotient = undo_binary(editor, value, BinaryKind::div);
  const HostTensor* one = quotient ? editor.constant((*quotient)[0]) : nullptr;
  if (one == nullptr || one->elements() != 1 || one->to_floats()[0] != 1.0f) return std::nullopt;
  return undo_standard_deviation(editor, (*quotient)[1]);
}

// (x - mean) / deviation, or times its inverse: torch, Paddle.
std::optional<Deviation> undo_quotient(const GraphEditor& editor, ValueId value) {
  std::optional<Deviation> found;
  ValueId numerator = kNoValue;
  if (const auto quotient = undo_binary(editor, value, BinaryKind::div)) {
    found = undo_standard_deviation(editor, (*quotient)[1]);
    numerator = (*quotient)[0];
  } else if (const auto product = undo_binary(editor, value, BinaryKind::mul)) {
    for (size_t slot = 0; slot < 2 && !found; ++slot) {
      found = undo_inverse_deviation(editor, (*product)[slot]);
      numerator = (*product)[1 - slot];
    }
  }
  return found && undo_deviation(editor, numerator) == found->of ? found : std::nullopt;
}

Shape last_dimensions(const GraphEditor& editor, const Mean& of) {
  const Shape& shape = editor.type(of.input).shape;
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(of.axis), shape.end());
}

// Node `index` becomes the normalisation; nodes that only it read are dead code.
void replace(GraphEditor& editor, size_t index, const Deviation& found, HostTensor scale,
             std::optional<HostTensor> bias) {
  auto op = std::make_shared<LayerNormalization>();
  op->axis =
      static_cast<int64_t>(found.of.axis) - static_cast<int64_t>(editor.type(found.of.input).shape.size());
  op->epsilon = found.epsilon;
  const std::string name = editor.node(index).name;
  std::vector<ValueId> inputs{found.of.input, editor.add_constant(name + "/scale", std::move(scale))};
  if (bias) inputs.push_back(editor.add_constant(name + "/bias", std::move(*bias)));
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, std::move(inputs));
}

void match_quotient(GraphEditor& editor, size_t index) {
  const ValueId quotient = editor.node(index).outputs[0];
  const auto found = undo_quotient(editor, quotient);
  if (!found || editor.type(found->of.input) != editor.type(quotient)) return;
  const Shape last = last_dimensions(editor, found->of);
  const HostTensor one = HostTensor::from<float>(editor.type(quotient).dtype, {}, std::vector<float>{1.0f});
  HostTensor scale = *expand_to_last_dimensions(one, last);
  std::optional<HostTensor> bias;
  size_t at = index;
  ValueId result = quotient;
  if (const auto product = constant_reader(editor, result, BinaryKind::mul)) {
    if (auto expanded = expand_to_last_dimensions(*product->constant, last)) {
      scale = std::move(*expanded);
      at = product->index, result = product->output;
    }
  }
  if (const auto sum = constant_reader(editor, result, BinaryKind::add)) {
    bias = expand_to_last_dimensions(*sum->constant, last);
    if (bias) at = sum->index;
  }
  replace(editor, at, *found, std::move(scale), std::move(bias));
}

// The factor r = scale / deviation of the two products below.
struct Factor {
  Deviation deviation;
  HostTensor scale;
};

std::optional<Factor> undo_factor(const GraphEditor& editor, ValueId value, const Shape& last) {
  const auto product = undo_binary(editor, value, BinaryKind::mul);
  for (size_t slot = 0; product && slot < 2; ++slot) {
    const HostTensor* constant = editor.constant((*product)[slot]);
    if (constant == nullptr) continue;
    const auto deviation = undo_inverse_deviation(editor, (*product)[1 - slot]);
    auto scale = expand_to_last_dimensions(*constant, last);
    if (deviation && scale) return Factor{*deviation, std::move(*scale)};
  }
  return std::nullopt;
}

// x * r + (bias - mean * r): TensorFlow.
void match_two_products(GraphEditor& editor, size_t index) {
  const auto operands = undo_binary(editor, editor.node(index).outputs[0], BinaryKind::add);
  if (!operands) return;
  for (size_t slot = 0; slot < 2; ++slot) {
    const auto left = undo_binary(editor, (*operands)[slot], BinaryKind::mul);
    const auto right = undo_binary(editor, (*operands)[1 - slot], BinaryKind::sub);
    const HostTensor* constant = right ? editor.constant((*right)[0]) : nullptr;
    const auto shift = right ? undo_binary(editor, (*right)[1], BinaryKind::mul) : std::nullopt;
    if (!left || constant == nullptr || !shift) continue;
    for (size_t a = 0; a < 2; ++a) {
      for (size_t b = 0; b < 2; ++b) {
        const auto mean = undo_mean(editor, (*shift)[b]);
        if (!mean || mean->input != (*left)[a] || (*left)[1 - a] != (*shift)[1 - b]) continue;
        const Shape last = last_dimensions(editor, *mean);
        const auto factor = undo_factor(editor, (*left)[1 - a], last);
        auto bias = expand_to_last_dimensions(*constant, last);
        if (factor && factor->deviation.of == *mean && bias &&
            editor.type(mean->input) == editor.type(editor.node(index).outputs[0]))
          return replace(editor, index, factor->deviation, factor->scale, std::move(bias));
      }
    }
  }
}

}  // namespace

void fuse_layer_norm(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    if (dynamic_cast<const Binary*>(editor.node(i).op.get()) == nullptr ||
        !is_float_value(editor, editor.node(i).outputs[0]))
      continue;
    match_quotient(editor, i);
    match_two_products(editor, i);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

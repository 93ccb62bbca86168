#include "passes/rewrite/match.hpp"

#include <cmath>

namespace vellum {

bool is_float_binary(const GraphEditor& editor, size_t index) {
  const auto binary = match_node<Binary>(editor, index);
  return binary && is_float_value(editor, binary.node->outputs[0]);
}

Match<Binary> match_binary_node(const GraphEditor& editor, size_t index, BinaryKind kind) {
  const auto binary = match_node<Binary>(editor, index);
  return binary && binary->kind == kind && !binary->activation && !binary->fixed_point ? binary
                                                                                       : Match<Binary>{};
}

std::optional<std::array<ValueId, 2>> match_binary(const GraphEditor& editor, ValueId value,
                                                   BinaryKind kind) {
  const auto source = editor.producer(value);
  const auto binary = source ? match_binary_node(editor, *source, kind) : Match<Binary>{};
  return binary ? std::optional(std::array{binary.input(0), binary.input(1)}) : std::nullopt;
}

std::optional<ValueId> match_unary(const GraphEditor& editor, ValueId value, UnaryKind kind) {
  const auto unary = match_producer<Unary>(editor, value);
  return unary && unary->kind == kind ? std::optional(unary.input()) : std::nullopt;
}

std::optional<ValueId> match_power(const GraphEditor& editor, ValueId value, float exponent) {
  const auto power = match_binary(editor, value, BinaryKind::pow);
  const HostTensor* constant = power ? editor.constant((*power)[1]) : nullptr;
  if (constant == nullptr || constant->elements() != 1 || constant->to_floats()[0] != exponent)
    return std::nullopt;
  return editor.type(value) == editor.type((*power)[0]) ? std::optional((*power)[0]) : std::nullopt;
}

std::optional<ValueId> match_square(const GraphEditor& editor, ValueId value) {
  if (const auto factors = match_binary(editor, value, BinaryKind::mul))
    return (*factors)[0] == (*factors)[1] ? std::optional((*factors)[0]) : std::nullopt;
  return match_power(editor, value, 2.0f);
}

std::optional<AppliedActivation> match_activation(const GraphEditor& editor, ValueId value) {
  const auto source = match_producer<Operator>(editor, value);
  if (!source) return std::nullopt;
  const auto activation = as_activation(*source.op, operator_inputs(editor.graph(), *source.node));
  return activation ? std::optional(AppliedActivation{*activation, source.input()}) : std::nullopt;
}

std::optional<BinaryConstant> match_binary_constant(const GraphEditor& editor, size_t index) {
  const auto binary = match_node<Binary>(editor, index);
  if (!binary || binary->activation || binary->fixed_point || binary.node->inputs.size() != 2)
    return std::nullopt;
  const ValueId output = binary.node->outputs[0];
  if (!is_float_value(editor, output)) return std::nullopt;
  for (size_t slot = 0; slot < 2; ++slot) {
    const HostTensor* constant = editor.constant_input(index, 1 - slot);
    if (constant == nullptr || editor.constant_input(index, slot) != nullptr) continue;
    if (editor.type(binary.input(slot)) != editor.type(output)) continue;
    return BinaryConstant{binary.op, slot, constant};
  }
  return std::nullopt;
}

std::optional<ScalarStep> match_scalar(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  const auto binary = source ? match_binary_constant(editor, *source) : std::nullopt;
  if (!binary || binary->constant->elements() != 1) return std::nullopt;
  ScalarStep step{editor.node(*source).inputs[binary->data_slot], binary->op->kind,
                  double{binary->constant->to_floats()[0]}};
  if (binary->data_slot == 0 && step.kind == BinaryKind::div) {
    step.kind = BinaryKind::mul;
    step.scalar = 1.0 / step.scalar;
  } else if (binary->data_slot == 0 && step.kind == BinaryKind::sub) {
    step.kind = BinaryKind::add;
    step.scalar = -step.scalar;
  }
  if (step.kind != BinaryKind::add && step.kind != BinaryKind::mul) return std::nullopt;
  return step;
}

std::optional<ValueId> match_scalar(const GraphEditor& editor, ValueId value, BinaryKind kind,
                                    double scalar) {
  const auto step = match_scalar(editor, value);
  if (!step || step->kind != kind || !is_near(step->scalar, scalar)) return std::nullopt;
  return step->input;
}

std::optional<ConstantReader> match_constant_reader(const GraphEditor& editor, ValueId value,
                                                    BinaryKind kind) {
  const auto reader = editor.only_reader(value);
  const auto binary = reader ? match_binary_constant(editor, *reader) : std::nullopt;
  if (!binary || binary->op->kind != kind) return std::nullopt;
  const bool commutes = kind == BinaryKind::add || kind == BinaryKind::mul;
  if (!commutes && binary->data_slot != 0) return std::nullopt;
  return ConstantReader{*reader, binary->constant, editor.node(*reader).outputs[0]};
}

std::optional<ZeroPad> match_zero_pad(const GraphEditor& editor, ValueId value) {
  const auto pad = match_producer<Pad>(editor, value);
  if (!pad || pad->mode != PadMode::constant) return std::nullopt;
  const auto inputs = operator_inputs(editor.graph(), *pad.node);
  const bool known = inputs.size() < 3 || !inputs[2].present || inputs[2].constant != nullptr;
  if (!known || pad->padding_value(inputs).to_floats()[0] != 0.0f) return std::nullopt;
  return ZeroPad{pad.input(), pad->amounts(inputs)};
}

bool is_near(double value, double expected) {
  const auto differ_by = [](double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * std::abs(b);
  };
  const auto as_half = [](double x) { return double{half_to_float(float_to_half(static_cast<float>(x)))}; };
  // The inverse: of a divisor that the file stores as a half.
  return differ_by(value, expected, 1e-5) || differ_by(value, as_half(expected), 1e-7) ||
         differ_by(1.0 / value, as_half(1.0 / expected), 1e-7);
}

bool is_float_value(const GraphEditor& editor, ValueId value) {
  const DType dtype = editor.type(value).dtype;
  return dtype == DType::f32 || dtype == DType::f16;
}

bool is_constant_or_absent(const GraphEditor& editor, const Node& node, size_t slot) {
  return node.inputs.size() <= slot || node.inputs[slot] == kNoValue ||
         editor.constant(node.inputs[slot]) != nullptr;
}

}  // namespace vellum

#include "passes/rewrite/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "graph/operators/reshape.hpp"
#include "passes/fuse/binary_constant.hpp"

namespace vellum {

bool is_near(double value, double wanted) { return std::abs(value - wanted) <= 1e-5 * std::abs(wanted); }

bool is_float_value(const GraphEditor& editor, ValueId value) {
  const DType dtype = editor.type(value).dtype;
  return dtype == DType::f32 || dtype == DType::f16;
}

bool is_known_input(const GraphEditor& editor, const Node& node, size_t slot) {
  return node.inputs.size() <= slot || node.inputs[slot] == kNoValue ||
         editor.constant(node.inputs[slot]) != nullptr;
}

std::optional<ScalarStep> undo_scalar(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  const auto binary = source ? as_binary_constant(editor, *source) : std::nullopt;
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

std::optional<ValueId> undo_scalar(const GraphEditor& editor, ValueId value, BinaryKind kind, double wanted) {
  const auto step = undo_scalar(editor, value);
  if (!step || step->kind != kind || !is_near(step->scalar, wanted)) return std::nullopt;
  return step->input;
}

std::optional<std::array<ValueId, 2>> undo_binary(const GraphEditor& editor, ValueId value, BinaryKind kind) {
  const auto* op = producer_as<Binary>(editor, value);
  if (op == nullptr || op->kind != kind || op->activation) return std::nullopt;
  const auto& inputs = editor.node(*editor.producer(value)).inputs;
  return std::array{inputs[0], inputs[1]};
}

std::optional<ValueId> undo_unary(const GraphEditor& editor, ValueId value, UnaryKind kind) {
  const auto* op = producer_as<Unary>(editor, value);
  if (op == nullptr || op->kind != kind) return std::nullopt;
  return editor.node(*editor.producer(value)).inputs[0];
}

std::optional<ValueId> undo_power(const GraphEditor& editor, ValueId value, float exponent) {
  const auto power = undo_binary(editor, value, BinaryKind::pow);
  const HostTensor* constant = power ? editor.constant((*power)[1]) : nullptr;
  if (constant == nullptr || constant->elements() != 1 || constant->to_floats()[0] != exponent)
    return std::nullopt;
  return editor.type(value) == editor.type((*power)[0]) ? std::optional((*power)[0]) : std::nullopt;
}

std::optional<ValueId> undo_square(const GraphEditor& editor, ValueId value) {
  if (const auto factors = undo_binary(editor, value, BinaryKind::mul))
    return (*factors)[0] == (*factors)[1] ? std::optional((*factors)[0]) : std::nullopt;
  return undo_power(editor, value, 2.0f);
}

std::optional<Applied> undo_activation(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  if (!source) return std::nullopt;
  const Node& node = editor.node(*source);
  const auto activation = as_activation(*node.op, operator_inputs(editor.graph(), node));
  if (!activation) return std::nullopt;
  return Applied{*activation, node.inputs[0]};
}

std::optional<ConstantReader> constant_reader(const GraphEditor& editor, ValueId value, BinaryKind kind) {
  const auto reader = editor.only_reader(value);
  const auto binary = reader ? as_binary_constant(editor, *reader) : std::nullopt;
  if (!binary || binary->op->kind != kind) return std::nullopt;
  const bool commutes = kind == BinaryKind::add || kind == BinaryKind::mul;
  if (!commutes && binary->data_slot != 0) return std::nullopt;
  return ConstantReader{*reader, binary->constant, editor.node(*reader).outputs[0]};
}

std::shared_ptr<const Operator> reshape_to(Shape shape) {
  auto op = std::make_shared<Reshape>();
  op->shape = std::move(shape);
  op->allow_zero = true;  // the shape is known, empty dimensions included
  return op;
}

std::optional<HostTensor> expand_to_last_dimensions(const HostTensor& constant, const Shape& last) {
  Shape shape = constant.shape();
  while (shape.size() > last.size()) {
    if (shape.front() != 1) return std::nullopt;
    shape.erase(shape.begin());
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && shape[i] != last[i + last.size() - shape.size()]) return std::nullopt;
  }
  return gather_strided(constant, last, broadcast_strides(shape, last), 0);
}

}  // namespace vellum

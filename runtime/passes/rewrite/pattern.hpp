// How passes recognise operators that a model spells out: steps back from a value to what it is computed
// from. Each looks at one node, and gives nothing where that is another operator.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "graph/operators/activation.hpp"
#include "graph/operators/binary.hpp"
#include "graph/operators/unary.hpp"
#include "passes/rewrite/editor.hpp"

namespace vellum {

bool is_near(double value, double wanted);
bool is_float_value(const GraphEditor& editor, ValueId value);
// Whether input `slot` is a constant, or left out.
bool is_known_input(const GraphEditor& editor, const Node& node, size_t slot);

// The operator that computes `value`, where it is an Op.
template <typename Op>
const Op* producer_as(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  return source ? dynamic_cast<const Op*>(editor.node(*source).op.get()) : nullptr;
}

// value = input + scalar or input * scalar, with a constant scalar. A division is a product, a subtraction a
// sum.
struct ScalarStep {
  ValueId input = kNoValue;
  BinaryKind kind = BinaryKind::add;  // or mul
  double scalar = 0.0;
};
std::optional<ScalarStep> undo_scalar(const GraphEditor& editor, ValueId value);
// Its input, where kind and scalar are those.
std::optional<ValueId> undo_scalar(const GraphEditor& editor, ValueId value, BinaryKind kind, double wanted);

// The operands of value = kind(a, b) without an activation.
std::optional<std::array<ValueId, 2>> undo_binary(const GraphEditor& editor, ValueId value, BinaryKind kind);
std::optional<ValueId> undo_unary(const GraphEditor& editor, ValueId value, UnaryKind kind);
// value = x to a constant power.
std::optional<ValueId> undo_power(const GraphEditor& editor, ValueId value, float exponent);
// value = x * x, or the power.
std::optional<ValueId> undo_square(const GraphEditor& editor, ValueId value);

// value = activation(input), as an operator of its own.
struct Applied {
  Activation activation;
  ValueId input = kNoValue;
};
std::optional<Applied> undo_activation(const GraphEditor& editor, ValueId value);

// The only reader of `value` and the constant that it combines with it without changing the type, where it is
// kind(value, constant).
struct ConstantReader {
  size_t index = 0;
  const HostTensor* constant = nullptr;
  ValueId output = kNoValue;
};
std::optional<ConstantReader> constant_reader(const GraphEditor& editor, ValueId value, BinaryKind kind);

std::shared_ptr<const Operator> reshape_to(Shape shape);

// A constant that broadcasts to the last dimensions of a tensor, in full; nothing where it varies along
// others.
std::optional<HostTensor> expand_to_last_dimensions(const HostTensor& constant, const Shape& last);

}  // namespace vellum

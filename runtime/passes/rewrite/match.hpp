// Matching of subgraphs. Each function steps from a value back to its producer, or forward to its reader,
// checks that one node, and returns nothing if it does not match.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "graph/operators/elementwise/activation.hpp"
#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/pad.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// A node whose operator is an Op; converts to false if there is none. Valid until a node is inserted or this
// node changes.
template <typename Op>
struct Match {
  const Op* op = nullptr;
  const Node* node = nullptr;
  size_t index = 0;

  explicit operator bool() const { return op != nullptr; }
  const Op* operator->() const { return op; }
  ValueId input(size_t slot = 0) const { return node->inputs[slot]; }
};

template <typename Op>
Match<Op> match_node(const GraphEditor& editor, size_t index) {
  const Node& node = editor.node(index);
  return {editor.removed(index) ? nullptr : dynamic_cast<const Op*>(node.op.get()), &node, index};
}

// Matches the node that computes `value`.
template <typename Op>
Match<Op> match_producer(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  return source ? match_node<Op>(editor, *source) : Match<Op>{};
}

// Returns whether the node is a Binary on floats.
bool is_float_binary(const GraphEditor& editor, size_t index);
// Matches a Binary of this kind without an activation.
Match<Binary> match_binary_node(const GraphEditor& editor, size_t index, BinaryKind kind);
// Returns the operands of value = kind(a, b) without an activation.
std::optional<std::array<ValueId, 2>> match_binary(const GraphEditor& editor, ValueId value, BinaryKind kind);
// Returns the operand of value = kind(x).
std::optional<ValueId> match_unary(const GraphEditor& editor, ValueId value, UnaryKind kind);
// Returns x of value = pow(x, exponent) with a constant exponent.
std::optional<ValueId> match_power(const GraphEditor& editor, ValueId value, float exponent);
// Returns x of value = x * x or value = pow(x, 2).
std::optional<ValueId> match_square(const GraphEditor& editor, ValueId value);

// Matches value = activation(input), if the operator does nothing else.
struct AppliedActivation {
  Activation activation;
  ValueId input = kNoValue;
};
std::optional<AppliedActivation> match_activation(const GraphEditor& editor, ValueId value);

// A Binary on floats without activation, with one constant input. The other input has the type of the output.
struct BinaryConstant {
  const Binary* op = nullptr;
  size_t data_slot = 0;  // the other input is the constant
  const HostTensor* constant = nullptr;
};
std::optional<BinaryConstant> match_binary_constant(const GraphEditor& editor, size_t index);

// Matches value = input + scalar or input * scalar with a constant scalar. A division is matched as a
// product, a subtraction as a sum.
struct ScalarStep {
  ValueId input = kNoValue;
  BinaryKind kind = BinaryKind::add;  // or mul
  double scalar = 0.0;
};
std::optional<ScalarStep> match_scalar(const GraphEditor& editor, ValueId value);
// Returns the input if kind and scalar match.
std::optional<ValueId> match_scalar(const GraphEditor& editor, ValueId value, BinaryKind kind, double scalar);

// Matches the only reader of `value` if it computes output = kind(value, constant) of the same type.
struct ConstantReader {
  size_t index = 0;
  const HostTensor* constant = nullptr;
  ValueId output = kNoValue;
};
std::optional<ConstantReader> match_constant_reader(const GraphEditor& editor, ValueId value,
                                                    BinaryKind kind);

// Matches value = input padded with a constant 0. Amounts may be negative (crop).
struct ZeroPad {
  ValueId input = kNoValue;
  PadAmounts amounts;
};
std::optional<ZeroPad> match_zero_pad(const GraphEditor& editor, ValueId value);

// Returns whether the numbers are equal up to rounding to fp32 or fp16 in a model file.
bool is_near(double value, double expected);
// Returns whether the value is fp32 or fp16, the types in which kernels compute.
bool is_float_value(const GraphEditor& editor, ValueId value);
// Returns whether input `slot` is a constant or omitted.
bool is_constant_or_absent(const GraphEditor& editor, const Node& node, size_t slot);

}  // namespace vellum

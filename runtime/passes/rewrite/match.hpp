// Matching of subgraphs: steps from a value back to what it is computed from, or forwards to its reader. Each
// step looks at one node and returns nothing where that node is another one.
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

// A node whose operator is an Op; false where there is none. Valid until a node is inserted or this one
// changes.
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

// The node that computes `value`.
template <typename Op>
Match<Op> match_producer(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  return source ? match_node<Op>(editor, *source) : Match<Op>{};
}

// Whether the node is a Binary that computes floats.
bool is_float_binary(const GraphEditor& editor, size_t index);
// A Binary of that kind without an activation.
Match<Binary> match_binary_node(const GraphEditor& editor, size_t index, BinaryKind kind);
// The operands of value = kind(a, b) without an activation.
std::optional<std::array<ValueId, 2>> match_binary(const GraphEditor& editor, ValueId value, BinaryKind kind);
// The operand of value = kind(x).
std::optional<ValueId> match_unary(const GraphEditor& editor, ValueId value, UnaryKind kind);
// x of value = x to a constant power.
std::optional<ValueId> match_power(const GraphEditor& editor, ValueId value, float exponent);
// x of value = x * x, or of the power.
std::optional<ValueId> match_square(const GraphEditor& editor, ValueId value);

// value = activation(input), where an operator does nothing else.
struct AppliedActivation {
  Activation activation;
  ValueId input = kNoValue;
};
std::optional<AppliedActivation> match_activation(const GraphEditor& editor, ValueId value);

// A float operator without activation on one constant and one other input, which has the type of the output.
struct BinaryConstant {
  const Binary* op = nullptr;
  size_t data_slot = 0;  // the other input is the constant
  const HostTensor* constant = nullptr;
};
std::optional<BinaryConstant> match_binary_constant(const GraphEditor& editor, size_t index);

// value = input + scalar or input * scalar with a constant scalar. A division is matched as a product, a
// subtraction as a sum.
struct ScalarStep {
  ValueId input = kNoValue;
  BinaryKind kind = BinaryKind::add;  // or mul
  double scalar = 0.0;
};
std::optional<ScalarStep> match_scalar(const GraphEditor& editor, ValueId value);
// The input, where kind and scalar are these.
std::optional<ValueId> match_scalar(const GraphEditor& editor, ValueId value, BinaryKind kind, double scalar);

// The only reader of `value`, where it computes output = kind(value, constant) of the same type.
struct ConstantReader {
  size_t index = 0;
  const HostTensor* constant = nullptr;
  ValueId output = kNoValue;
};
std::optional<ConstantReader> match_constant_reader(const GraphEditor& editor, ValueId value,
                                                    BinaryKind kind);

// value = input padded with a constant 0; an amount may crop.
struct ZeroPad {
  ValueId input = kNoValue;
  PadAmounts amounts;
};
std::optional<ZeroPad> match_zero_pad(const GraphEditor& editor, ValueId value);

// Whether the numbers are equal up to the rounding of floats in a model file, or of a half there.
bool is_near(double value, double expected);
// Whether the value is fp32 or fp16: the types that kernels compute in.
bool is_float_value(const GraphEditor& editor, ValueId value);
// Whether input `slot` is a constant or left out.
bool is_constant_or_absent(const GraphEditor& editor, const Node& node, size_t slot);

}  // namespace vellum

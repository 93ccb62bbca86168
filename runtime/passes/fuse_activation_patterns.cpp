#include <cmath>
#include <memory>
#include <optional>

#include "graph/binary.hpp"
#include "graph/unary.hpp"
#include "passes/binary_constant.hpp"
#include "passes/editor.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

bool is_near(double value, double wanted) { return std::abs(value - wanted) <= 1e-5 * std::abs(wanted); }

// The input of `value`'s producer, if that adds or multiplies by a constant scalar near `wanted`. (A division
// is a product.)
std::optional<ValueId> undo(const GraphEditor& editor, ValueId value, BinaryKind kind, double wanted) {
  const auto source = editor.producer(value);
  const auto binary = source ? as_binary_constant(editor, *source) : std::nullopt;
  if (!binary || binary->constant->elements() != 1) return std::nullopt;
  double scalar = static_cast<double>(binary->constant->to_floats()[0]);
  const bool quotient = binary->op->kind == BinaryKind::div && binary->data_slot == 0;
  if (quotient && kind == BinaryKind::mul)
    scalar = 1.0 / scalar;
  else if (binary->op->kind != kind)
    return std::nullopt;
  if (!is_near(scalar, wanted)) return std::nullopt;
  return editor.node(*source).inputs[binary->data_slot];
}

bool is_product(const GraphEditor& editor, size_t index) {
  const auto* op = dynamic_cast<const Binary*>(editor.node(index).op.get());
  return op != nullptr && op->kind == BinaryKind::mul && !op->activation;
}

// The producer of `value` as an activation of its own, and what it is applied to.
struct Applied {
  Activation activation;
  ValueId input;
};

std::optional<Applied> applied(const GraphEditor& editor, ValueId value) {
  const auto source = editor.producer(value);
  const auto* op = source ? dynamic_cast<const Unary*>(editor.node(*source).op.get()) : nullptr;
  if (op == nullptr || op->kind != UnaryKind::activation) return std::nullopt;
  return Applied{op->activation, editor.node(*source).inputs[0]};
}

// x * sigmoid(x) is SiLU, x * hard_sigmoid(x) with the slope 1/6 HardSwish.
std::optional<ActivationKind> self_gated(const GraphEditor& editor, ValueId gate, ValueId x) {
  const auto gated = applied(editor, gate);
  if (!gated || gated->input != x) return std::nullopt;
  if (gated->activation.kind == ActivationKind::sigmoid) return ActivationKind::silu;
  const bool sixth =
      is_near(static_cast<double>(gated->activation.alpha), 1.0 / 6) && gated->activation.beta == 0.5f;
  if (gated->activation.kind == ActivationKind::hard_sigmoid && sixth) return ActivationKind::hard_swish;
  return std::nullopt;
}

// x * (1 + erf(x / sqrt 2)): twice Gelu.
bool is_twice_gelu(const GraphEditor& editor, ValueId factor, ValueId x) {
  const auto erf = undo(editor, factor, BinaryKind::add, 1.0);
  const auto inner = erf ? applied(editor, *erf) : std::nullopt;
  if (!inner || inner->activation.kind != ActivationKind::erf) return false;
  return undo(editor, inner->input, BinaryKind::mul, std::sqrt(0.5)) == x;
}

// Node `index` is the product of x and what is computed from it; what is left of that is dead code.
void replace(GraphEditor& editor, size_t index, ActivationKind kind, ValueId x) {
  auto op = std::make_shared<Unary>();
  op->activation.kind = kind;
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, {x});
}

void match_self_gated(GraphEditor& editor, size_t index) {
  const auto inputs = editor.node(index).inputs;
  for (size_t slot = 0; slot < 2; ++slot) {
    if (const auto kind = self_gated(editor, inputs[1 - slot], inputs[slot]))
      return replace(editor, index, *kind, inputs[slot]);
  }
}

// The half stands last (torch), or with one of the factors: (x / 2) * (1 + erf), x * (half of the sum).
void match_gelu(GraphEditor& editor, size_t index) {
  const auto inputs = editor.node(index).inputs;
  for (size_t slot = 0; slot < 2 && is_product(editor, index); ++slot) {
    const ValueId factor = inputs[1 - slot];
    if (const auto x = undo(editor, inputs[slot], BinaryKind::mul, 0.5);
        x && is_twice_gelu(editor, factor, *x))
      return replace(editor, index, ActivationKind::gelu, *x);
    if (const auto sum = undo(editor, factor, BinaryKind::mul, 0.5);
        sum && is_twice_gelu(editor, *sum, inputs[slot]))
      return replace(editor, index, ActivationKind::gelu, inputs[slot]);
  }
  const auto twice = undo(editor, editor.node(index).outputs[0], BinaryKind::mul, 0.5);
  const auto source = twice ? editor.producer(*twice) : std::nullopt;
  if (!source || !is_product(editor, *source)) return;
  const auto factors = editor.node(*source).inputs;
  for (size_t slot = 0; slot < 2; ++slot) {
    if (is_twice_gelu(editor, factors[1 - slot], factors[slot]))
      return replace(editor, index, ActivationKind::gelu, factors[slot]);
  }
}

}  // namespace

void fuse_activation_patterns(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    if (editor.removed(i) || !dynamic_cast<const Binary*>(editor.node(i).op.get())) continue;
    const TensorType& type = editor.type(editor.node(i).outputs[0]);
    if (type.dtype != DType::f32 && type.dtype != DType::f16) continue;
    match_gelu(editor, i);
    if (is_product(editor, i)) match_self_gated(editor, i);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

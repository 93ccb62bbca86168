#include <cmath>
#include <memory>
#include <optional>

#include "graph/operators/binary.hpp"
#include "graph/operators/unary.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/pattern.hpp"

namespace vellum {
namespace {

bool is_product(const GraphEditor& editor, size_t index) {
  const auto* op = dynamic_cast<const Binary*>(editor.node(index).op.get());
  return op != nullptr && op->kind == BinaryKind::mul && !op->activation;
}

// x * sigmoid(x) is SiLU, x * hard_sigmoid(x) with the slope 1/6 HardSwish.
std::optional<ActivationKind> self_gated(const GraphEditor& editor, ValueId gate, ValueId x) {
  const auto gated = undo_activation(editor, gate);
  if (!gated || gated->input != x) return std::nullopt;
  if (gated->activation.kind == ActivationKind::sigmoid) return ActivationKind::silu;
  const bool sixth =
      is_near(static_cast<double>(gated->activation.alpha), 1.0 / 6) && gated->activation.beta == 0.5f;
  if (gated->activation.kind == ActivationKind::hard_sigmoid && sixth) return ActivationKind::hard_swish;
  return std::nullopt;
}

// clip(x + 3, 0, 6): six times HardSigmoid with the slope 1/6.
std::optional<ValueId> undo_six_hard_sigmoids(const GraphEditor& editor, ValueId value) {
  const auto clipped = undo_activation(editor, value);
  const bool to_six = clipped && clipped->activation.kind == ActivationKind::clip &&
                      clipped->activation.alpha == 0.0f && clipped->activation.beta == 6.0f;
  return to_six ? undo_scalar(editor, clipped->input, BinaryKind::add, 3.0) : std::nullopt;
}

// x * clip(x + 3, 0, 6): six times HardSwish.
std::optional<ValueId> undo_six_hard_swishes(const GraphEditor& editor, ValueId value) {
  const auto factors = undo_binary(editor, value, BinaryKind::mul);
  for (size_t slot = 0; factors && slot < 2; ++slot)
    if (undo_six_hard_sigmoids(editor, (*factors)[1 - slot]) == (*factors)[slot]) return (*factors)[slot];
  return std::nullopt;
}

// x * (1 + erf(x / sqrt 2)): twice Gelu.
bool is_twice_erf_gelu(const GraphEditor& editor, const Applied& erf, ValueId x) {
  return erf.activation.kind == ActivationKind::erf &&
         undo_scalar(editor, erf.input, BinaryKind::mul, std::sqrt(0.5)) == x;
}

// value = x * x * x, or the power.
std::optional<ValueId> undo_cube(const GraphEditor& editor, ValueId value) {
  if (const auto factors = undo_binary(editor, value, BinaryKind::mul)) {
    for (size_t slot = 0; slot < 2; ++slot)
      if (undo_square(editor, (*factors)[slot]) == (*factors)[1 - slot]) return (*factors)[1 - slot];
    return std::nullopt;
  }
  return undo_power(editor, value, 3.0f);
}

// x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): twice Gelu's approximation.
bool is_twice_tanh_gelu(const GraphEditor& editor, const Applied& tanh, ValueId x) {
  if (tanh.activation.kind != ActivationKind::tanh) return false;
  const auto sum = undo_scalar(editor, tanh.input, BinaryKind::mul, 0.7978845608);
  const auto terms = sum ? undo_binary(editor, *sum, BinaryKind::add) : std::nullopt;
  for (size_t slot = 0; terms && slot < 2; ++slot) {
    const auto cube = undo_scalar(editor, (*terms)[1 - slot], BinaryKind::mul, 0.044715);
    if ((*terms)[slot] == x && cube && undo_cube(editor, *cube) == x) return true;
  }
  return false;
}

// Which Gelu x * factor is twice.
std::optional<ActivationKind> twice_gelu(const GraphEditor& editor, ValueId factor, ValueId x) {
  const auto inner = undo_scalar(editor, factor, BinaryKind::add, 1.0);
  const auto curve = inner ? undo_activation(editor, *inner) : std::nullopt;
  if (curve && is_twice_erf_gelu(editor, *curve, x)) return ActivationKind::gelu;
  if (curve && is_twice_tanh_gelu(editor, *curve, x)) return ActivationKind::gelu_tanh;
  return std::nullopt;
}

// Node `index` becomes an activation of x; what is left of its other operands is dead code.
void replace(GraphEditor& editor, size_t index, const Activation& activation, ValueId x) {
  auto op = std::make_shared<Unary>();
  op->activation = activation;
  editor.set_operator(index, std::move(op));
  editor.set_inputs(index, {x});
}

void match_self_gated(GraphEditor& editor, size_t index) {
  const auto inputs = editor.node(index).inputs;
  for (size_t slot = 0; slot < 2; ++slot) {
    if (const auto kind = self_gated(editor, inputs[1 - slot], inputs[slot]))
      return replace(editor, index, {*kind}, inputs[slot]);
  }
}

// The half stands last (torch), or with one of the factors: (x / 2) * (1 + erf), x * (half of the sum).
void match_gelu(GraphEditor& editor, size_t index) {
  const auto inputs = editor.node(index).inputs;
  for (size_t slot = 0; slot < 2 && is_product(editor, index); ++slot) {
    const ValueId factor = inputs[1 - slot];
    if (const auto x = undo_scalar(editor, inputs[slot], BinaryKind::mul, 0.5))
      if (const auto kind = twice_gelu(editor, factor, *x)) return replace(editor, index, {*kind}, *x);
    if (const auto sum = undo_scalar(editor, factor, BinaryKind::mul, 0.5))
      if (const auto kind = twice_gelu(editor, *sum, inputs[slot]))
        return replace(editor, index, {*kind}, inputs[slot]);
  }
  const auto twice = undo_scalar(editor, editor.node(index).outputs[0], BinaryKind::mul, 0.5);
  const auto factors = twice ? undo_binary(editor, *twice, BinaryKind::mul) : std::nullopt;
  for (size_t slot = 0; factors && slot < 2; ++slot)
    if (const auto kind = twice_gelu(editor, (*factors)[1 - slot], (*factors)[slot]))
      return replace(editor, index, {*kind}, (*factors)[slot]);
}

// HardSigmoid and HardSwish written with a Clip and a division by six, which stands last or with the gate.
void match_sixth(GraphEditor& editor, size_t index) {
  const auto six = undo_scalar(editor, editor.node(index).outputs[0], BinaryKind::mul, 1.0 / 6);
  if (!six) return;
  if (const auto x = undo_six_hard_swishes(editor, *six))
    return replace(editor, index, {ActivationKind::hard_swish}, *x);
  if (const auto x = undo_six_hard_sigmoids(editor, *six))
    replace(editor, index, {ActivationKind::hard_sigmoid, 1.0f / 6, 0.5f}, *x);
}

}  // namespace

void fuse_activation_patterns(Graph& graph) {
  GraphEditor editor(graph);
  for (size_t i = 0; i < editor.node_count(); ++i) {
    if (editor.removed(i) || !dynamic_cast<const Binary*>(editor.node(i).op.get())) continue;
    if (!is_float_value(editor, editor.node(i).outputs[0])) continue;
    match_sixth(editor, i);
    match_gelu(editor, i);
    if (is_product(editor, i)) match_self_gated(editor, i);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

#include <cmath>
#include <memory>
#include <optional>

#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// x * sigmoid(x) is SiLU, x * hard_sigmoid(x) with the slope 1/6 HardSwish.
std::optional<ActivationKind> match_self_gate(const GraphEditor& editor, ValueId gate, ValueId x) {
  const auto applied = match_activation(editor, gate);
  if (!applied || applied->input != x) return std::nullopt;
  const Activation& activation = applied->activation;
  if (activation.kind == ActivationKind::sigmoid) return ActivationKind::silu;
  const bool has_slope_of_sixth =
      is_near(static_cast<double>(activation.alpha), 1.0 / 6) && activation.beta == 0.5f;
  if (activation.kind == ActivationKind::hard_sigmoid && has_slope_of_sixth)
    return ActivationKind::hard_swish;
  return std::nullopt;
}

// x of clip(x + 3, 0, 6), which is six times HardSigmoid with the slope 1/6.
std::optional<ValueId> match_six_hard_sigmoids(const GraphEditor& editor, ValueId value) {
  const auto clipped = match_activation(editor, value);
  const bool is_relu6 = clipped && clipped->activation.kind == ActivationKind::clip &&
                        clipped->activation.alpha == 0.0f && clipped->activation.beta == 6.0f;
  return is_relu6 ? match_scalar(editor, clipped->input, BinaryKind::add, 3.0) : std::nullopt;
}

// x of x * clip(x + 3, 0, 6), which is six times HardSwish.
std::optional<ValueId> match_six_hard_swishes(const GraphEditor& editor, ValueId value) {
  const auto factors = match_binary(editor, value, BinaryKind::mul);
  for (size_t slot = 0; factors && slot < 2; ++slot)
    if (match_six_hard_sigmoids(editor, (*factors)[1 - slot]) == (*factors)[slot]) return (*factors)[slot];
  return std::nullopt;
}

// x * (1 + erf(x / sqrt 2)) is twice Gelu.
bool is_twice_erf_gelu(const GraphEditor& editor, const AppliedActivation& erf, ValueId x) {
  return erf.activation.kind == ActivationKind::erf &&
         match_scalar(editor, erf.input, BinaryKind::mul, std::sqrt(0.5)) == x;
}

// factor * x^power
struct Monomial {
  double factor = 1.0;
  int power = 1;
};

// Matches value = factor * x^power, however its factors are associated. depth: how many nodes may be on a
// path to x.
std::optional<Monomial> match_monomial(const GraphEditor& editor, ValueId value, ValueId x, int depth) {
  if (value == x) return Monomial{};
  if (depth == 0) return std::nullopt;
  if (const auto step = match_scalar(editor, value)) {
    auto inner =
        step->kind == BinaryKind::mul ? match_monomial(editor, step->input, x, depth - 1) : std::nullopt;
    if (inner) inner->factor *= step->scalar;
    return inner;
  }
  for (const int power : {2, 3})
    if (match_power(editor, value, static_cast<float>(power)) == x) return Monomial{1.0, power};
  const auto factors = match_binary(editor, value, BinaryKind::mul);
  const auto left = factors ? match_monomial(editor, (*factors)[0], x, depth - 1) : std::nullopt;
  const auto right = left ? match_monomial(editor, (*factors)[1], x, depth - 1) : std::nullopt;
  if (!right) return std::nullopt;
  return Monomial{left->factor * right->factor, left->power + right->power};
}

// x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) is twice the approximation of Gelu.
bool is_twice_tanh_gelu(const GraphEditor& editor, const AppliedActivation& tanh, ValueId x) {
  if (tanh.activation.kind != ActivationKind::tanh) return false;
  const auto sum = match_scalar(editor, tanh.input, BinaryKind::mul, 0.7978845608);
  const auto terms = sum ? match_binary(editor, *sum, BinaryKind::add) : std::nullopt;
  for (size_t slot = 0; terms && slot < 2; ++slot) {
    constexpr int kDepth = 3;  // of three factors and a scalar
    const auto cube =
        (*terms)[slot] == x ? match_monomial(editor, (*terms)[1 - slot], x, kDepth) : std::nullopt;
    if (cube && cube->power == 3 && is_near(cube->factor, 0.044715)) return true;
  }
  return false;
}

// The Gelu that x * factor is twice.
std::optional<ActivationKind> match_twice_gelu(const GraphEditor& editor, ValueId factor, ValueId x) {
  const auto inner = match_scalar(editor, factor, BinaryKind::add, 1.0);
  const auto curve = inner ? match_activation(editor, *inner) : std::nullopt;
  if (curve && is_twice_erf_gelu(editor, *curve, x)) return ActivationKind::gelu;
  if (curve && is_twice_tanh_gelu(editor, *curve, x)) return ActivationKind::gelu_tanh;
  return std::nullopt;
}

// Node `index` becomes an activation of x. Its former operands may become dead code.
void replace_by_activation(GraphEditor& editor, size_t index, const Activation& activation, ValueId x) {
  auto op = std::make_shared<Unary>();
  op->activation = activation;
  editor.replace(index, std::move(op), {x});
}

void fuse_self_gated(GraphEditor& editor, size_t index) {
  const auto inputs = editor.node(index).inputs;
  for (size_t slot = 0; slot < 2; ++slot) {
    if (const auto kind = match_self_gate(editor, inputs[1 - slot], inputs[slot]))
      return replace_by_activation(editor, index, {*kind}, inputs[slot]);
  }
}

// The factor 1/2 comes last (torch), or with one of the operands: (x / 2) * (1 + erf), x * ((1 + erf) / 2).
void fuse_gelu(GraphEditor& editor, size_t index) {
  const auto inputs = editor.node(index).inputs;
  for (size_t slot = 0; slot < 2 && match_binary_node(editor, index, BinaryKind::mul); ++slot) {
    const ValueId factor = inputs[1 - slot];
    if (const auto x = match_scalar(editor, inputs[slot], BinaryKind::mul, 0.5))
      if (const auto kind = match_twice_gelu(editor, factor, *x))
        return replace_by_activation(editor, index, {*kind}, *x);
    if (const auto sum = match_scalar(editor, factor, BinaryKind::mul, 0.5))
      if (const auto kind = match_twice_gelu(editor, *sum, inputs[slot]))
        return replace_by_activation(editor, index, {*kind}, inputs[slot]);
  }
  const auto twice = match_scalar(editor, editor.node(index).outputs[0], BinaryKind::mul, 0.5);
  const auto factors = twice ? match_binary(editor, *twice, BinaryKind::mul) : std::nullopt;
  for (size_t slot = 0; factors && slot < 2; ++slot)
    if (const auto kind = match_twice_gelu(editor, (*factors)[1 - slot], (*factors)[slot]))
      return replace_by_activation(editor, index, {*kind}, (*factors)[slot]);
}

// HardSigmoid and HardSwish as a Clip and a division by six, which comes last or with the gate.
void fuse_hard_activation(GraphEditor& editor, size_t index) {
  const auto six = match_scalar(editor, editor.node(index).outputs[0], BinaryKind::mul, 1.0 / 6);
  if (!six) return;
  if (const auto x = match_six_hard_swishes(editor, *six))
    return replace_by_activation(editor, index, {ActivationKind::hard_swish}, *x);
  if (const auto x = match_six_hard_sigmoids(editor, *six))
    replace_by_activation(editor, index, {ActivationKind::hard_sigmoid, 1.0f / 6, 0.5f}, *x);
}

}  // namespace

void fuse_activation_patterns(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (!is_float_binary(editor, index)) continue;
    fuse_hard_activation(editor, index);
    fuse_gelu(editor, index);
    if (match_binary_node(editor, index, BinaryKind::mul)) fuse_self_gated(editor, index);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum

// Lowers activations and other functions of one tensor.
#include "graph/operators/elementwise/unary.hpp"

#include <algorithm>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/conv/conv_transpose.hpp"
#include "graph/operators/elementwise/select.hpp"
#include "graph/operators/fused/fused_nodes.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/elementwise/unary.h"
#include "shaders/elementwise/unary_linear.h"

namespace vellum {

namespace {

// Returns whether a convolution or a pool, which read texels, reads the node's output.
bool is_read_in_texels(const Lowering& lowering) {
  const ValueId y = lowering.node().outputs[0];
  return std::ranges::any_of(lowering.graph().nodes, [&](const Node& node) {
    const Operator* op = node.op.get();
    const bool reads_texels = dynamic_cast<const Conv*>(op) || dynamic_cast<const ConvTranspose*>(op) ||
                              dynamic_cast<const Pool*>(op) || dynamic_cast<const FusedNodes*>(op);
    return reads_texels && !node.inputs.empty() && node.inputs[0] == y;
  });
}

// Returns a dispatch of unary.comp in the layout of the input, without the macros FUNCTION and ACTIVATION.
// A rounding of a linear tensor stores texels for a layer that reads them: bytes of them are a quarter of
// what a conversion before it would store.
Dispatch map_elements(Lowering& lowering, const Activation& activation) {
  const Shape& shape = lowering.output_type().shape;
  const Layout from = is_in_channels4(lowering, 0) ? Layout::channels4 : Layout::linear;
  const bool to_texels =
      from == Layout::linear && activation.only_rounds() && shape.size() == 4 && is_read_in_texels(lowering);
  const Layout to = to_texels ? Layout::channels4 : from;
  const bool linear = to == Layout::linear;
  const TensorId x = lowering.read(0, from), y = lowering.write(0, to);
  const std::vector<Binding> bindings{to_texels ? reads("x", x) : reads_in_place("x", x), writes("y", y)};
  const vec4 params = activation_params(activation);
  if (!linear) {
    Dispatch dispatch =
        make_dispatch("unary", grid_of_texels(lowering.caps(), shape), bindings,
                      UnaryParameters{.activation_params = params, .y_shape = texel_shape(shape)});
    if (to_texels) define(dispatch, "X_LINEAR");
    return dispatch;
  }
  const int64_t count4 = groups_of_four(shape);
  Dispatch dispatch = make_dispatch("unary", grid_1d(lowering.caps(), count4), bindings,
                                    UnaryLinearParameters{.activation_params = params, .count4 = count4});
  define(dispatch, "LINEAR_LAYOUT");
  return dispatch;
}

void activate(Lowering& lowering, const Activation& activation) {
  Dispatch dispatch = map_elements(lowering, activation);
  define_activation(dispatch, activation);
  lowering.dispatch(std::move(dispatch));
}

// Lowers Not, IsNaN and IsInf.
void lower_test(Lowering& lowering, const Unary& op) {
  std::string function(op.type());
  if (op.kind == UnaryKind::is_inf && op.detect_positive != op.detect_negative)
    function += op.detect_positive ? "Positive" : "Negative";
  const TensorId x = lowering.read(0, Layout::linear);
  map_integers(lowering, function, DType::boolean, x, lowering.write(0, Layout::linear));
}

// Lowers functions of integers, and Relu of integers.
void lower_integer(Lowering& lowering, const Unary& op) {
  const bool known = op.kind == UnaryKind::abs || op.kind == UnaryKind::neg || op.kind == UnaryKind::sign ||
                     op.kind == UnaryKind::bitwise_not ||
                     (op.kind == UnaryKind::activation && op.activation.kind == ActivationKind::relu);
  if (!known) return lowering.run_on_host(std::string(op.type()) + " of or to integers has no kernel");
  if (op.kind == UnaryKind::bitwise_not && lowering.output_type().dtype == DType::u64)
    return lowering.run_on_host("BitwiseNot of uint64 has no kernel: it exceeds 32 bits");
  const TensorId x = lowering.read(0, Layout::linear);
  map_integers(lowering, std::string(op.type()), lowering.output_type().dtype, x,
               lowering.write(0, Layout::linear));
}

// Lowers min(max(x, low), high) if the bounds are computed at run time or are integers.
void clip_between(Lowering& lowering) {
  const TensorType& type = lowering.output_type();
  if (type.shape.size() > kMaxElementwiseRank)
    return lowering.run_on_host("Clip of more than six dimensions with such bounds has no kernel");
  const bool low = lowering.has_input(1), high = lowering.has_input(2);
  if (!low && !high) return lowering.alias(0, 0);
  Operand so_far{lowering.read(0, Layout::linear), type.shape};
  const Operand y{lowering.write(0, Layout::linear), type.shape};
  for (size_t i = 1; i <= 2; ++i) {
    if (!lowering.has_input(i)) continue;
    const Operand bound{lowering.read(i, Layout::linear), {}};
    const std::string function = i == 1 ? "Max" : "Min";
    if (is_float(type.dtype)) {
      const Operand result =
          i == 1 && high ? Operand{float_workspace(lowering, "above", type.shape), type.shape} : y;
      combine(lowering, function, {}, Layout::linear, so_far, bound, result);
      so_far = result;
    } else {
      const Operand result =
          i == 1 && high ? Operand{integer_workspace(lowering, "above", type.shape), type.shape} : y;
      combine_integers(lowering, function, type.dtype, so_far, bound, result);
      so_far = result;
    }
  }
}

}  // namespace

void lower_unary(Lowering& lowering) {
  const Unary& op = lowering.op<Unary>();
  const bool detects = op.kind != UnaryKind::is_inf || op.detect_positive || op.detect_negative;
  if (lowering.output_type().dtype == DType::boolean && detects) return lower_test(lowering, op);
  if (!all_float(lowering)) return lower_integer(lowering, op);
  const bool only_rounds = op.kind == UnaryKind::activation && op.activation.only_rounds();
  // The store of the input has rounded.
  if (only_rounds && lowering.alias_same_bytes(op.activation.least, op.activation.most)) return;
  if (op.kind == UnaryKind::activation) return activate(lowering, op.activation);
  Dispatch dispatch = map_elements(lowering, {});
  define(dispatch, "FUNCTION", std::string(op.type()));
  lowering.dispatch(std::move(dispatch));
}

void lower_clip(Lowering& lowering) {
  // Before opset 11 a Clip is a Unary.
  if (dynamic_cast<const Unary*>(lowering.node().op.get())) return lower_unary(lowering);
  const auto activation = as_activation(lowering.op<Clip>(), operator_inputs(lowering));
  if (!activation) return clip_between(lowering);
  activate(lowering, *activation);
}

void lower_shrink(Lowering& lowering) {
  const Shrink& op = lowering.op<Shrink>();
  if (!all_float(lowering)) return lowering.run_on_host("Shrink of integers has no kernel");
  Activation parameters;
  parameters.alpha = op.lambda;
  parameters.beta = op.bias;
  Dispatch dispatch = map_elements(lowering, parameters);
  define(dispatch, "FUNCTION", "Shrink");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

// Activations and other functions of one tensor.
#include "graph/unary.hpp"

#include "kernels/activation.hpp"
#include "kernels/elements.hpp"

namespace vellum {

namespace {

// One dispatch of unary.comp without its FUNCTION or ACTIVATION macro, in the layout that the input has.
Dispatch map_elements(Lowering& lowering, const Activation& activation) {
  const Shape& shape = lowering.output_type().shape;
  const Layout layout = lives_in_channels4(lowering, 0) ? Layout::channels4 : Layout::linear;
  const bool linear = layout == Layout::linear;
  const TensorId x = lowering.read(0, layout), y = lowering.write(0, layout);
  PushConstants constants;
  push_activation(constants, activation);
  constants.shape(linear ? Shape{} : shape);
  if (linear) constants.ints({groups_of_four(shape)});
  const Grid grid =
      linear ? grid_1d(lowering.caps(), groups_of_four(shape)) : grid_of_texels(lowering.caps(), shape);
  Dispatch dispatch = make_dispatch("unary", grid, {reads(x), writes(y)}, constants);
  if (linear) define(dispatch, "LINEAR");
  return dispatch;
}

void activate(Lowering& lowering, const Activation& activation) {
  Dispatch dispatch = map_elements(lowering, activation);
  define_activation(dispatch, activation);
  lowering.dispatch(std::move(dispatch));
}

// Not, IsNaN and IsInf.
void lower_test(Lowering& lowering, const Unary& op) {
  std::string function(op.type());
  if (op.kind == UnaryKind::is_inf && op.detect_positive != op.detect_negative)
    function += op.detect_positive ? "Positive" : "Negative";
  const int64_t count4 = groups_of_four(lowering.output_type().shape);
  const TensorId x = lowering.read(0, Layout::linear), y = lowering.write(0, Layout::linear);
  Dispatch dispatch = make_dispatch("unary_integer", grid_1d(lowering.caps(), count4), {reads(x), writes(y)},
                                    PushConstants().ints({count4}));
  define(dispatch, "FUNCTION", function);
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

void lower_unary(Lowering& lowering) {
  const Unary& op = lowering.op<Unary>();
  const bool detects = op.kind != UnaryKind::is_inf || op.detect_positive || op.detect_negative;
  if (lowering.output_type().dtype == DType::boolean && detects) return lower_test(lowering, op);
  if (!all_float(lowering))
    return lowering.run_on_host(std::string(op.type()) + " of or to integers has no kernel");
  if (op.kind == UnaryKind::activation) return activate(lowering, op.activation);
  Dispatch dispatch = map_elements(lowering, {});
  define(dispatch, "FUNCTION", std::string(op.type()));
  lowering.dispatch(std::move(dispatch));
}

void lower_clip(Lowering& lowering) {
  // Before opset 11 a Clip is a Unary.
  if (dynamic_cast<const Unary*>(lowering.node().op.get())) return lower_unary(lowering);
  const auto activation = as_activation(lowering.op<Clip>(), operator_inputs(lowering));
  if (!activation)
    return lowering.run_on_host("Clip with bounds that are computed, or of integers, has no kernel");
  activate(lowering, *activation);
}

}  // namespace vellum

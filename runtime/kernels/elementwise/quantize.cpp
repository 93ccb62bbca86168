// QuantizeLinear and DequantizeLinear.
#include "graph/operators/elementwise/quantize.hpp"

#include "kernels/elementwise/elementwise.hpp"
#include "kernels/framework/elements.hpp"
#include "shaders/elementwise/quantize.h"

namespace vellum {

namespace {

// Returns the scale, input 1. A constant stays fp32, because every element is multiplied by it.
TensorId read_scale(Lowering& lowering) {
  if (lowering.constant(1)) return exact_constant(lowering, 1, Layout::linear, lowering.input_type(1).shape);
  return lowering.read(1, Layout::linear);
}

Dispatch between(Lowering& lowering, TensorId x, int64_t axis, int64_t low, int64_t high) {
  const Shape& shape = lowering.output_type().shape;
  const int64_t period = element_count(lowering.input_type(1).shape);
  const int64_t inner =
      period == 1 ? 1 : product(shape, normalize_axis(axis, shape.size()) + 1, shape.size());
  const TensorId scale = read_scale(lowering), y = lowering.write(0, Layout::linear);
  Dispatch dispatch = make_dispatch(
      "quantize", grid_1d(lowering.caps(), groups_of_four(shape)),
      {reads("x", x), reads("scale", scale), writes("y", y)},
      QuantizeParameters{
          .count = element_count(shape), .inner = inner, .period = period, .low = low, .high = high});
  if (period == 1) define(dispatch, "ONE_SCALE");
  if (lowering.has_input(2)) {
    dispatch.bindings.push_back(reads("zero", lowering.read(2, Layout::linear)));
    define(dispatch, "ZERO_POINT");
  }
  return dispatch;
}

}  // namespace

void lower_quantize_linear(Lowering& lowering) {
  const QuantizeLinear& op = lowering.op<QuantizeLinear>();
  const auto [low, high] = op.range_of(lowering.output_type().dtype);
  const TensorId x = as_floats(lowering, lowering.read(0, Layout::linear));
  lowering.dispatch(between(lowering, x, op.axis, low, high));
}

void lower_dequantize_linear(Lowering& lowering) {
  const TensorId x = lowering.read(0, Layout::linear);
  Dispatch dispatch = between(lowering, x, lowering.op<DequantizeLinear>().axis, 0, 0);
  define(dispatch, "DEQUANTIZE");
  lowering.dispatch(std::move(dispatch));
}

}  // namespace vellum

#include "graph/operators/elementwise/quantize.hpp"

#include <algorithm>
#include <cmath>

#include "graph/onnx_types.hpp"
#include "graph/operators/elementwise/blocked_quantize.hpp"

namespace vellum {

bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

void check_per_axis(const TensorType& parameter, std::string_view what, const Shape& shape, int64_t axis) {
  const Shape& p = parameter.shape;
  if (p.empty() || p == Shape{1}) return;
  if (p.size() != 1 || p[0] != shape[normalize_axis(axis, shape.size())]) {
    refuse_unsupported("input '" + std::string(what) + "' is " + to_string(parameter) +
                       " for a tensor of shape " + to_string(shape) +
                       "; one value, or one per index of the axis, is supported");
  }
}

int64_t requantize(double value, int64_t zero_point, DType dtype) {
  return requantize(value, zero_point, integer_range(dtype, 8));
}

int64_t requantize(double value, int64_t zero_point, IntegerRange range) {
  const auto low = static_cast<double>(range.low), high = static_cast<double>(range.high);
  if (std::isnan(value)) return zero_point;
  // nearbyint: half to even, the default rounding mode.
  return static_cast<int64_t>(std::clamp(std::nearbyint(value) + static_cast<double>(zero_point), low, high));
}

namespace {

// Calls visit(element, index into the parameters) for each element of a tensor in order.
template <typename Visit>
void for_each_with_parameter(const Shape& shape, const Shape& parameter, int64_t axis, Visit&& visit) {
  const auto count = static_cast<size_t>(element_count(shape));
  size_t inner = 1, size = 1;
  if (element_count(parameter) != 1) {
    const size_t at = normalize_axis(axis, shape.size());
    inner = static_cast<size_t>(product(shape, at + 1, shape.size()));
    size = static_cast<size_t>(shape[at]);
  }
  for (size_t i = 0; i < count; ++i) visit(i, i / inner % size);
}

Ints zero_points(HostInputs inputs, const Shape& scale) {
  const bool given = inputs.size() > 2 && inputs[2] != nullptr;
  return given ? inputs[2]->to_ints() : Ints(static_cast<size_t>(element_count(scale)), 0);
}

void check_parameters(Inputs inputs, std::string_view scale, std::string_view zero_point, int64_t axis) {
  const Shape& x = inputs[0].type.shape;
  const TensorType& scale_type = float_input_type(inputs, 1, scale);
  check_per_axis(scale_type, scale, x, axis);
  if (has_input(inputs, 2) && element_count(inputs[2].type.shape) != element_count(scale_type.shape)) {
    refuse_model("input '" + std::string(zero_point) + "' is " + to_string(inputs[2].type) + ", the scale " +
                 to_string(scale_type));
  }
}

Attributes print_axis(int64_t axis) {
  Attributes result;
  result.set("axis", axis);
  return result;
}

}  // namespace

std::vector<TensorType> QuantizeLinear::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "x");
  if (!is_float(x.dtype) && x.dtype != DType::i32) refuse_model("x is " + to_string(x));
  check_parameters(inputs, "y_scale", "y_zero_point", axis);
  const DType dtype = to ? *to : has_input(inputs, 2) ? inputs[2].type.dtype : DType::u8;
  if (has_input(inputs, 2) && inputs[2].type.dtype != dtype)
    refuse_model("y_zero_point is " + to_string(inputs[2].type) + ", the output " + std::string(name(dtype)));
  if (!is_byte(dtype) && dtype != DType::i16 && dtype != DType::u16)
    refuse_unsupported("quantisation to " + std::string(name(dtype)));
  return {{dtype, x.shape}};
}

std::vector<HostTensor> QuantizeLinear::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto x = inputs[0]->to_floats(), scale = inputs[1]->to_floats();
  const Ints zero = zero_points(inputs, inputs[1]->shape());
  const IntegerRange range = range_of(type.dtype);
  Ints y(x.size());
  for_each_with_parameter(type.shape, inputs[1]->shape(), axis, [&](size_t i, size_t p) {
    y[i] = requantize(static_cast<double>(x[i] / scale[p]), zero[p], range);
  });
  return {HostTensor::from<int64_t>(type.dtype, type.shape, y)};
}

IntegerRange QuantizeLinear::range_of(DType dtype) const {
  return integer_range(dtype, bits != 0 ? bits : static_cast<int>(8 * size_of(dtype)));
}

Attributes QuantizeLinear::attributes() const { return print_axis(axis); }

std::vector<TensorType> DequantizeLinear::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "x");
  if (!is_byte(x.dtype) && x.dtype != DType::i16 && x.dtype != DType::u16 && x.dtype != DType::i32 &&
      !is_float(x.dtype))
    refuse_unsupported("dequantisation of " + std::string(name(x.dtype)));
  check_parameters(inputs, "x_scale", "x_zero_point", axis);
  return {{inputs[1].type.dtype, x.shape}};
}

std::vector<HostTensor> DequantizeLinear::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const HostTensor x = cast(*inputs[0], DType::f64);  // every integer of 32 bits is exact
  const auto in = x.as<double>();
  const Ints zero = zero_points(inputs, inputs[1]->shape());
  const auto scale = inputs[1]->to_floats();
  std::vector<float> y(in.size());
  for_each_with_parameter(type.shape, inputs[1]->shape(), axis, [&](size_t i, size_t p) {
    y[i] = static_cast<float>(in[i] - static_cast<double>(zero[p])) * scale[p];
  });
  return {HostTensor::from<float>(type.dtype, type.shape, y)};
}

Attributes DequantizeLinear::attributes() const { return print_axis(axis); }

std::vector<TensorType> DynamicQuantizeLinear::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "x");
  return {{DType::u8, x.shape}, {DType::f32, {}}, {DType::u8, {}}};
}

std::vector<HostTensor> DynamicQuantizeLinear::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto x = inputs[0]->to_floats();
  float low = 0.0f, high = 0.0f;
  for (const float value : x) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float scale = high > low ? (high - low) / 255.0f : 1.0f;
  const int64_t zero = requantize(static_cast<double>(-low / scale), 0, DType::u8);
  Ints y;
  for (const float value : x) y.push_back(requantize(static_cast<double>(value / scale), zero, DType::u8));
  return {HostTensor::from<int64_t>(DType::u8, type.shape, y), HostTensor::f32({}, std::array{scale}),
          HostTensor::from<int64_t>(DType::u8, {}, std::array{zero})};
}

std::shared_ptr<const Operator> make_quantize_linear(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  const int64_t output = a.get_int("output_dtype", 0);
  a.ignore("precision");  // of the division, which is in fp32 at least
  const bool saturate = get_flag(a, "saturate", true);
  const NarrowType* narrow = find_narrow_type(output);
  auto op = std::make_shared<QuantizeLinear>();
  op->axis = a.get_int("axis", 1);
  if (output != 0) op->to = dtype_from_onnx(output);
  if (narrow) op->bits = narrow->bits;
  const int64_t block = a.get_int("block_size", 0);
  if (block != 0 || (narrow && narrow->format))
    return make_blocked_quantize(spec, *op, block, output, saturate);
  return op;
}

std::shared_ptr<const Operator> make_dequantize_linear(const NodeSpec& spec) {
  const Attributes& a = *spec.attributes;
  auto op = std::make_shared<DequantizeLinear>();
  op->axis = a.get_int("axis", 1);
  const int64_t block = a.get_int("block_size", 0), output = a.get_int("output_dtype", 0);
  if (block != 0 || output != 0) return make_blocked_dequantize(spec, op->axis, block, output);
  return op;
}

std::shared_ptr<const Operator> make_dynamic_quantize_linear(const NodeSpec&) {
  return std::make_shared<DynamicQuantizeLinear>();
}

}  // namespace vellum

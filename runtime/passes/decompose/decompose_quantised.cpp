// Quantised convolutions and products in floating point, between a dequantisation and a quantisation.
#include <algorithm>

#include "graph/onnx_types.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/matmul/quantized.hpp"
#include "passes/decompose/decomposition.hpp"

namespace vellum {
namespace {

// (x - zero point) * scale, with x, scale and zero point at inputs `first`, `first` + 1 and `first` + 2.
// Where one of scale and zero point is a single element and the other is not, it is repeated.
ValueId dequantize(Decomposition& d, size_t first, int64_t axis) {
  std::array<ValueId, 2> parameters{d.input(first + 1), d.input(first + 2)};
  const int64_t counts[] = {element_count(d.input_type(first + 1).shape),
                            element_count(d.input_type(first + 2).shape)};
  for (size_t i = 0; i < 2; ++i)
    if (counts[i] < counts[1 - i])
      parameters[i] = d.add("Expand", {parameters[i], d.add_ints({counts[1 - i]})});
  return d.add("DequantizeLinear", {d.input(first), parameters[0], parameters[1]}, {{"axis", axis}});
}

}  // namespace

// A Cast to integers of 4 or 2 bits keeps the lowest bits. Floats are rounded by a kernel.
bool decompose_cast(Decomposition& d) {
  const NarrowType* narrow = d.op<Cast>().narrow;
  if (!narrow || narrow->format) return false;
  const auto scalar = [&](int64_t value) {
    return d.add_constant(HostTensor::from<int64_t>(DType::i32, {}, std::array{value}));
  };
  const ValueId wide = d.add("Cast", {d.input(0)}, {{"to", dtype_to_onnx(DType::i32)}});
  ValueId lowest = kNoValue;
  if (narrow->stored == DType::i8) {
    const ValueId by = scalar(32 - narrow->bits);
    const ValueId top = d.add("BitShift", {wide, by}, {{"direction", std::string("LEFT")}});
    lowest = d.add("BitShift", {top, by}, {{"direction", std::string("RIGHT")}});
  } else {
    lowest = d.add("BitwiseAnd", {wide, scalar((int64_t{1} << narrow->bits) - 1)});
  }
  d.add_to({d.output(0)}, "Cast", {lowest}, {{"to", dtype_to_onnx(narrow->stored)}});
  return true;
}

// For floats in place of 8-bit floats this is a product.
bool decompose_dequantize_linear(Decomposition& d) {
  const TensorType x = d.input_type(0), scale = d.input_type(1);
  if (!is_float(x.dtype)) return false;
  ValueId factor = d.input(1);
  if (element_count(scale.shape) != 1) {
    Ints column(x.shape.size(), 1);
    const size_t axis = normalize_axis(d.op<DequantizeLinear>().axis, x.shape.size());
    column[axis] = x.shape[axis];
    factor = d.add("Reshape", {factor, d.add_ints(column)});
  } else if (scale.shape.size() > x.shape.size()) {
    factor = d.add("Reshape", {factor, d.add_ints({})});
  }
  d.add_to({d.output(0)}, "Mul", {d.add("CastLike", {d.input(0), d.input(1)}), factor});
  return true;
}

bool decompose_qlinear_conv(Decomposition& d) {
  std::vector<ValueId> inputs{dequantize(d, 0, 1), dequantize(d, 3, 0)};
  if (d.has_input(8)) {
    const ValueId scale = d.add("Mul", {d.input(1), d.input(4)});
    inputs.push_back(d.add("Mul", {d.add("CastLike", {d.input(8), d.input(1)}), scale}));
  }
  const ValueId y = d.add(std::make_shared<Conv>(d.op<QLinearConv>().conv), std::move(inputs));
  d.add_to({d.output(0)}, "QuantizeLinear", {y, d.input(6), d.input(7)});
  return true;
}

bool decompose_qlinear_matmul(Decomposition& d) {
  const auto rank = [&](size_t i) { return std::ssize(d.input_type(i).shape); };
  const ValueId a = dequantize(d, 0, std::max<int64_t>(rank(0) - 2, 0)), b = dequantize(d, 3, rank(3) - 1);
  d.add_to({d.output(0)}, "QuantizeLinear", {d.add("MatMul", {a, b}), d.input(6), d.input(7)});
  return true;
}

}  // namespace vellum

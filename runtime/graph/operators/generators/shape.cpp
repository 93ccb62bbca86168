#include "graph/operators/generators/shape.hpp"

#include <algorithm>
#include <cmath>

#include "graph/onnx_types.hpp"

namespace vellum {

std::vector<TensorType> ShapeOf::infer(Inputs inputs) const {
  const auto rank = static_cast<int64_t>(input_type(inputs, 0, "data").shape.size());
  const auto clamp = [rank](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  return {{DType::i64, {std::max<int64_t>(0, clamp(end) - clamp(start))}}};
}

HostTensor ShapeOf::evaluate_types(Inputs inputs) const {
  const auto count = static_cast<size_t>(infer(inputs)[0].shape[0]);
  const Shape& shape = inputs[0].type.shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t first = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  return HostTensor::i64({static_cast<int64_t>(count)},
                         std::span(shape).subspan(static_cast<size_t>(first), count));
}

std::vector<HostTensor> ShapeOf::evaluate(HostInputs inputs) const {
  return {evaluate_types(known_inputs(inputs))};
}

Attributes ShapeOf::attributes() const {
  Attributes result;
  if (start != 0) result.set("start", start);
  if (end != INT64_MAX) result.set("end", end);
  return result;
}

std::vector<TensorType> SizeOf::infer(Inputs inputs) const {
  input_type(inputs, 0, "data");
  return {{DType::i64, {}}};
}

HostTensor SizeOf::evaluate_types(Inputs inputs) const {
  return HostTensor::i64({}, std::array{element_count(input_type(inputs, 0, "data").shape)});
}

std::vector<HostTensor> SizeOf::evaluate(HostInputs inputs) const {
  return {evaluate_types(known_inputs(inputs))};
}

std::vector<TensorType> ConstantOfShape::infer(Inputs inputs) const {
  const Shape shape = constant_ints(inputs, 0, "input");
  for (const int64_t dim : shape) {
    if (dim < 0) refuse_model("the shape holds " + std::to_string(dim));
  }
  return {{value.dtype(), shape}};
}

std::vector<HostTensor> ConstantOfShape::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  return {gather_strided(value, type.shape, std::vector<int64_t>(type.shape.size(), 0), 0)};
}

Attributes ConstantOfShape::attributes() const {
  Attributes result;
  result.set("value", value);
  return result;
}

std::vector<TensorType> Constant::infer(Inputs) const { return {value.type()}; }

std::vector<HostTensor> Constant::evaluate(HostInputs) const { return {value}; }

Attributes Constant::attributes() const {
  Attributes result;
  result.set("value", value);
  return result;
}

namespace {

const HostTensor& scalar(Inputs inputs, size_t index, std::string_view what) {
  const HostTensor& tensor = constant_input(inputs, index, what);
  if (tensor.elements() != 1 || tensor.dtype() == DType::boolean) {
    refuse_model("input '" + std::string(what) + "' is " + to_string(tensor.type()) +
                 ", expected one number");
  }
  return tensor;
}

int64_t range_length(Inputs inputs) {
  const HostTensor &start = scalar(inputs, 0, "start"), &limit = scalar(inputs, 1, "limit");
  const HostTensor& delta = scalar(inputs, 2, "delta");
  if (start.dtype() != limit.dtype() || start.dtype() != delta.dtype()) {
    refuse_model("start, limit and delta have different types");
  }
  const auto value = [](const HostTensor& tensor) { return cast(tensor, DType::f64).as<double>()[0]; };
  const double length = std::ceil((value(limit) - value(start)) / value(delta));
  if (std::isnan(length) || length > static_cast<double>(kMaxElements)) {
    refuse_unsupported("a range of " + std::to_string(length) + " elements");
  }
  return std::max<int64_t>(0, static_cast<int64_t>(length));
}

}  // namespace

std::vector<TensorType> Range::infer(Inputs inputs) const {
  return {{input_type(inputs, 0, "start").dtype, {range_length(inputs)}}};
}

std::vector<HostTensor> Range::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor y(type.dtype, type.shape);
  visit_element(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto start = widen(inputs[0]->as<Element>()[0]), delta = widen(inputs[2]->as<Element>()[0]);
    int64_t i = 0;
    for (Element& element : y.mutable_as<Element>()) {
      if constexpr (std::is_integral_v<Widened<Element>>) {
        const auto offset = static_cast<uint64_t>(i) * static_cast<uint64_t>(delta);
        element = convert<Element>(static_cast<Widened<Element>>(static_cast<uint64_t>(start) + offset));
      } else {
        element = convert<Element>(start + static_cast<Widened<Element>>(i) * delta);
      }
      ++i;
    }
  });
  return {y};
}

std::vector<TensorType> EyeLike::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  if (x.shape.size() != 2)
    refuse_model("input has shape " + to_string(x.shape) + ", expected two dimensions");
  return {{dtype.value_or(x.dtype), x.shape}};
}

std::vector<HostTensor> EyeLike::evaluate(HostInputs inputs) const {
  return {evaluate_types(known_inputs(inputs))};
}

HostTensor EyeLike::evaluate_types(Inputs inputs) const {
  const TensorType type = infer(inputs)[0];
  HostTensor y(DType::u8, type.shape);
  auto out = y.mutable_as<uint8_t>();
  const int64_t rows = type.shape[0], columns = type.shape[1];
  for (int64_t row = 0; row < rows; ++row) {
    const bool inside = k < columns - row && k >= -row;
    if (inside) out[static_cast<size_t>(row * columns + row + k)] = 1;
  }
  return cast(y, type.dtype);
}

Attributes EyeLike::attributes() const {
  Attributes result;
  if (dtype) result.set("dtype", std::string(name(*dtype)));
  if (k != 0) result.set("k", k);
  return result;
}

std::shared_ptr<const Operator> make_shape(const NodeSpec& spec) {
  auto op = std::make_shared<ShapeOf>();
  if (spec.opset >= 15) {
    op->start = spec.attributes->get_int("start", 0);
    op->end = spec.attributes->get_int("end", INT64_MAX);
  }
  return op;
}

std::shared_ptr<const Operator> make_size(const NodeSpec&) { return std::make_shared<SizeOf>(); }

std::shared_ptr<const Operator> make_constant_of_shape(const NodeSpec& spec) {
  auto op = std::make_shared<ConstantOfShape>();
  op->value = spec.attributes->get_tensor("value").value_or(HostTensor(DType::f32, {1}));
  if (op->value.elements() != 1)
    refuse_model("value has " + std::to_string(op->value.elements()) + " elements");
  return op;
}

std::shared_ptr<const Operator> make_constant(const NodeSpec& spec) {
  auto op = std::make_shared<Constant>();
  const Attributes& a = *spec.attributes;
  if (a.has("value")) {
    op->value = *a.get_tensor("value");
  } else if (a.has("value_float")) {
    op->value = HostTensor::f32({}, std::array{a.get_float("value_float", 0.0f)});
  } else if (a.has("value_floats")) {
    const auto values = a.get_floats("value_floats");
    op->value = HostTensor::f32({static_cast<int64_t>(values.size())}, values);
  } else if (a.has("value_int")) {
    op->value = HostTensor::i64({}, std::array{a.get_int("value_int", 0)});
  } else if (a.has("value_ints")) {
    const auto values = a.get_ints("value_ints");
    op->value = HostTensor::i64({static_cast<int64_t>(values.size())}, values);
  } else {
    refuse_unsupported("a constant that is neither a dense tensor nor numbers");
  }
  return op;
}

std::shared_ptr<const Operator> make_range(const NodeSpec& spec) {
  // 1 is float32, in which evaluate() computes halves.
  if (spec.attributes->get_int("stash_type", 1) != 1)
    refuse_unsupported("Range whose sums are of another type than float32 (stash_type)");
  return std::make_shared<Range>();
}

std::shared_ptr<const Operator> make_eye_like(const NodeSpec& spec) {
  auto op = std::make_shared<EyeLike>();
  op->k = spec.attributes->get_int("k", 0);
  if (spec.attributes->has("dtype")) op->dtype = dtype_from_onnx(spec.attributes->get_int("dtype", 1));
  return op;
}

}  // namespace vellum

#include "graph/operators/elementwise/select.hpp"

#include "graph/real.hpp"

namespace vellum {

std::vector<TensorType> PRelu::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  const TensorType& slope = float_input_type(inputs, 1, "slope");
  if (scalar_slope && slope.shape != x.shape && element_count(slope.shape) != 1) {
    refuse_unsupported("a slope per channel before opset 7");
  }
  if (broadcast(slope.shape, x.shape) != x.shape) {
    refuse_model("slope of shape " + to_string(slope.shape) + " does not broadcast to " + to_string(x.shape));
  }
  return {x};
}

namespace {

template <typename Real>
Real prelu_of_integers(const FixedPair& fixed, Real x, Real slope) {
  const int32_t a = integer_of(static_cast<float>(x), fixed.a_step);
  const int32_t y = a >= 0 ? multiply(a, fixed.a)
                           : multiply(a * integer_of(static_cast<float>(slope), fixed.b_step), fixed.y);
  return static_cast<Real>(static_cast<float>(y) * fixed.y_step);
}

}  // namespace

std::vector<HostTensor> PRelu::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  return visit_real(type.dtype, [&](auto tag) {
    using Real = typename decltype(tag)::type;
    const HostTensor x = cast(*inputs[0], kRealType<Real>), slope = cast(*inputs[1], kRealType<Real>);
    const auto in = x.as<Real>(), slopes = slope.as<Real>();
    HostTensor y(kRealType<Real>, type.shape);
    auto out = y.mutable_as<Real>();
    size_t i = 0;
    for_each_offset<1>(type.shape, {broadcast_strides(slope.shape(), type.shape)}, {0},
                       [&](const auto& offsets) {
                         const Real slope_of_i = slopes[static_cast<size_t>(offsets[0])];
                         out[i] = fixed_point ? prelu_of_integers(fixed_point, in[i], slope_of_i)
                                  : in[i] < 0 ? slope_of_i * in[i]
                                              : in[i];
                         ++i;
                       });
    return std::vector{cast(y, type.dtype)};
  });
}

std::vector<TensorType> Where::infer(Inputs inputs) const {
  const TensorType& condition = input_type(inputs, 0, "condition");
  const TensorType &x = input_type(inputs, 1, "X"), &y = input_type(inputs, 2, "Y");
  if (condition.dtype != DType::boolean || x.dtype != y.dtype) {
    refuse_model("condition is " + to_string(condition) + ", X " + to_string(x) + ", Y " + to_string(y));
  }
  return {{x.dtype, broadcast(condition.shape, broadcast(x.shape, y.shape))}};
}

std::vector<HostTensor> Where::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor result(type.dtype, type.shape);
  const auto condition = inputs[0]->as<uint8_t>();
  visit_element_size(type.dtype, [&](auto tag) {
    using Element = typename decltype(tag)::type;
    const auto x = inputs[1]->as<Element>(), y = inputs[2]->as<Element>();
    auto out = result.mutable_as<Element>();
    size_t i = 0;
    for_each_offset<3>(
        type.shape,
        {broadcast_strides(inputs[0]->shape(), type.shape), broadcast_strides(inputs[1]->shape(), type.shape),
         broadcast_strides(inputs[2]->shape(), type.shape)},
        {0, 0, 0}, [&](const auto& at) {
          const bool first = condition[static_cast<size_t>(at[0])] != 0;
          out[i++] = first ? x[static_cast<size_t>(at[1])] : y[static_cast<size_t>(at[2])];
        });
  });
  return {result};
}

std::vector<TensorType> Shrink::infer(Inputs inputs) const {
  const TensorType& x = input_type(inputs, 0, "input");
  if (x.dtype == DType::boolean) refuse_model("Shrink of bool");
  return {x};
}

std::vector<HostTensor> Shrink::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor y = cast(*inputs[0], DType::f32);
  for (float& x : y.mutable_as<float>()) x = x < -lambda ? x + bias : x > lambda ? x - bias : 0.0f;
  return {cast(y, type.dtype)};
}

Attributes Shrink::attributes() const {
  Attributes result;
  result.set("lambd", lambda);
  result.set("bias", bias);
  return result;
}

std::shared_ptr<const Operator> make_prelu(const NodeSpec& spec) {
  auto op = std::make_shared<PRelu>();
  op->scalar_slope = spec.opset < 7;
  return op;
}

std::shared_ptr<const Operator> make_where(const NodeSpec&) { return std::make_shared<Where>(); }

std::shared_ptr<const Operator> make_shrink(const NodeSpec& spec) {
  auto op = std::make_shared<Shrink>();
  op->lambda = spec.attributes->get_float("lambd", 0.5f);
  op->bias = spec.attributes->get_float("bias", 0.0f);
  return op;
}

}  // namespace vellum

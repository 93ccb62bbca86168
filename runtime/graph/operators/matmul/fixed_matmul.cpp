#include "graph/operators/matmul/fixed_matmul.hpp"

#include "graph/operators/conv/fixed_point.hpp"

namespace vellum {
FixedPair fixed_matmul(float a_step, float b_step, float y_step) {
  const double y = static_cast<double>(a_step * b_step) / static_cast<double>(y_step);
  if (!(y > 0.0 && y < 1.0)) return {};
  return {a_step, b_step, y_step, {}, {}, fixed_multiplier(y)};
}

std::vector<HostTensor> FixedMatMul::evaluate(HostInputs inputs) const {
  const DType dtype = inputs[0]->dtype();
  std::vector<float> y;
  HostTensor sums;
  if (multiplies_integers()) {
    const HostTensor a = cast(in_integers(*inputs[0], {fixed_point.a_step}), DType::i64),
                     b = cast(in_integers(*inputs[1], {fixed_point.b_step}), DType::i64);
    sums = product.evaluate(std::array{&a, &b})[0];
    for (const int64_t sum : sums.as<int64_t>())
      y.push_back(static_cast<float>(multiply(static_cast<int32_t>(sum), fixed_point.y)) *
                  fixed_point.y_step);
  } else {
    sums = product.evaluate(inputs)[0];
    y = sums.to_floats();
  }
  for (float& value : y) value = apply(activation, value);
  return {HostTensor::from<float>(dtype, sums.shape(), y)};
}

std::shared_ptr<const Operator> FixedMatMul::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes FixedMatMul::attributes() const {
  Attributes result = product.attributes();
  result.set("a_step", fixed_point.a_step);
  result.set("b_step", fixed_point.b_step);
  result.set("y_step", fixed_point.y_step);
  print_activation(result, activation);
  return result;
}

std::shared_ptr<const Operator> make_fixed_matmul(const NodeSpec& spec) {
  auto op = std::make_shared<FixedMatMul>();
  op->product.transpose_a = get_flag(*spec.attributes, "transA", false);
  op->product.transpose_b = get_flag(*spec.attributes, "transB", false);
  const auto step = [&](const char* name) { return spec.attributes->get_float(name, 1.0f); };
  op->fixed_point = fixed_matmul(step("a_step"), step("b_step"), step("y_step"));
  return op;
}

}  // namespace vellum

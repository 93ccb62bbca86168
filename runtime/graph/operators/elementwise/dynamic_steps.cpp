#include "graph/operators/elementwise/dynamic_steps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "graph/operators/elementwise/quantize.hpp"

namespace vellum {
namespace {

struct Steps {
  std::vector<float> steps;
  float scale = 1.0f;
};

Steps steps_of_bytes(HostInputs inputs) {
  const std::vector<HostTensor> quantised = DynamicQuantizeLinear().evaluate(inputs);
  Steps result{quantised[0].to_floats(), quantised[1].to_floats()[0]};
  const float zero = quantised[2].to_floats()[0];
  for (float& step : result.steps) step -= zero;
  return result;
}

// Replaces `values` by their integers, clamped to least..most, minus `zero`.
Steps rounded(std::vector<float> values, float scale, float inverse, float zero, float least, float most) {
  for (float& value : values) {
    const float product = std::isnan(value) ? 0.0f : value * inverse;
    value = std::clamp(std::round(zero + product), least, most) - zero;
  }
  return {std::move(values), scale};
}

Steps symmetric_steps(std::vector<float> values, float low, float high) {
  const float range = std::max(high, -low);
  if (range == 0.0f) return rounded(std::move(values), 1.0f, 0.0f, 0.0f, -127.0f, 127.0f);
  return rounded(std::move(values), range / 127.0f, 127.0f / range, 0.0f, -127.0f, 127.0f);
}

Steps signed_steps(std::vector<float> values, float low, float high) {
  if (low == high) return rounded(std::move(values), 1.0f, 0.0f, 0.0f, -128.0f, 127.0f);
  const double scale = (static_cast<double>(high) - static_cast<double>(low)) / 255.0;
  const double zero = std::round(std::clamp(-128.0 - static_cast<double>(low) / scale, -128.0, 127.0));
  const auto step = static_cast<float>(scale);
  return rounded(std::move(values), step, 1.0f / step, static_cast<float>(zero), -128.0f, 127.0f);
}

}  // namespace

std::vector<TensorType> DynamicSteps::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "x");
  if (x.shape.size() > 4) refuse_unsupported("steps of a tensor of shape " + to_string(x.shape));
  return {x, {DType::i32, {1}}};
}

std::vector<HostTensor> DynamicSteps::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  Steps result;
  if (form == StepsForm::bytes) {
    result = steps_of_bytes(inputs);
  } else {
    std::vector<float> values = inputs[0]->to_floats();
    float low = 0.0f, high = 0.0f;
    for (const float value : values) {  // a NaN changes neither bound
      if (value < low) low = value;
      if (value > high) high = value;
    }
    result = form == StepsForm::symmetric ? symmetric_steps(std::move(values), low, high)
                                          : signed_steps(std::move(values), low, high);
  }
  const int64_t bits = std::bit_cast<int32_t>(result.scale);
  return {HostTensor::from<float>(type.dtype, type.shape, result.steps),
          HostTensor::from<int64_t>(DType::i32, {1}, std::array{bits})};
}

Attributes DynamicSteps::attributes() const {
  Attributes result;
  if (form != StepsForm::bytes) result.set("form", static_cast<int64_t>(form));
  return result;
}

std::shared_ptr<const Operator> make_dynamic_steps(const NodeSpec& spec) {
  auto op = std::make_shared<DynamicSteps>();
  op->form = static_cast<StepsForm>(std::clamp<int64_t>(spec.attributes->get_int("form", 0), 0, 2));
  return op;
}

}  // namespace vellum

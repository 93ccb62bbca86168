#include "graph/operators/elementwise/dynamic_steps.hpp"

#include <bit>

#include "graph/operators/elementwise/quantize.hpp"

namespace vellum {

std::vector<TensorType> DynamicSteps::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "x");
  if (x.shape.size() > 4) refuse_unsupported("steps of a tensor of shape " + to_string(x.shape));
  return {x, {DType::i32, {1}}};
}

std::vector<HostTensor> DynamicSteps::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const std::vector<HostTensor> quantised = DynamicQuantizeLinear().evaluate(inputs);
  std::vector<float> steps = quantised[0].to_floats();
  const float zero = quantised[2].to_floats()[0];
  for (float& step : steps) step -= zero;
  const int64_t bits = std::bit_cast<int32_t>(quantised[1].to_floats()[0]);
  return {HostTensor::from<float>(type.dtype, type.shape, steps),
          HostTensor::from<int64_t>(DType::i32, {1}, std::array{bits})};
}

std::shared_ptr<const Operator> make_dynamic_steps(const NodeSpec&) {
  return std::make_shared<DynamicSteps>();
}

}  // namespace vellum

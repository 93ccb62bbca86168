#include "graph/operators/conv/scaled_conv.hpp"

#include <bit>
#include <cmath>

namespace vellum {
namespace {

Shape with_pixels(Shape shape) {
  if (shape.size() == 2) shape.insert(shape.end(), 2, 1);
  return shape;
}

void check_scales(Inputs inputs, int64_t filters) {
  const TensorType bits{DType::i32, {1}}, factors{DType::f32, {filters}};
  for (const auto& [index, name, expected] : {std::tuple{3, "scale", bits}, {4, "factors", factors}})
    if (const TensorType& type = input_type(inputs, static_cast<size_t>(index), name); type != expected)
      refuse_model("input '" + std::string(name) + "' is " + to_string(type));
}

}  // namespace

std::vector<OperatorInput> ScaledConv::conv_inputs(Inputs inputs) {
  std::vector<OperatorInput> lifted(inputs.begin(), inputs.begin() + 2);
  lifted[0].type.shape = with_pixels(lifted[0].type.shape);
  return lifted;
}

std::vector<TensorType> ScaledConv::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  float_input_type(inputs, 1, "W");
  std::vector<OperatorInput> lifted = conv_inputs(inputs);
  if (has_input(inputs, 2)) lifted.push_back(inputs[2]);
  TensorType y = conv.infer(lifted)[0];
  if (x.shape.size() == 2) y.shape.resize(2);
  check_scales(inputs, y.shape[1]);
  return {y};
}

std::vector<HostTensor> ScaledConv::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const auto scale = std::bit_cast<float>(static_cast<int32_t>(inputs[3]->to_ints()[0]));
  const std::vector<float> factors = inputs[4]->to_floats();
  const HostTensor* bias = inputs[2];
  const std::vector<float> biases = bias ? bias->to_floats() : std::vector<float>(factors.size(), 0.0f);
  const HostTensor x = cast(*inputs[0], DType::f32).reshaped(with_pixels(inputs[0]->shape()));
  std::vector<float> y;
  conv.convolve(x, cast(*inputs[1], DType::f32), [&](int64_t filter, std::span<const double> plane) {
    const auto m = static_cast<size_t>(filter);
    const float factor = scale * factors[m];
    const double steps = bias_in_steps ? std::floor(biases[m] / factor) : 0.0;
    for (const double sum : plane) {
      const float product = static_cast<float>(sum + steps) * factor;
      y.push_back(apply(activation, bias && !bias_in_steps ? product + biases[m] : product));
    }
  });
  return {HostTensor::from<float>(type.dtype, type.shape, y)};
}

uint64_t ScaledConv::macs(Inputs inputs) const { return conv.macs(conv_inputs(inputs)); }

std::shared_ptr<const Operator> ScaledConv::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes ScaledConv::attributes() const {
  Attributes result = conv.attributes();
  print_activation(result, activation);
  if (bias_in_steps) result.set("bias_in_steps", int64_t{1});
  return result;
}

// From conv.cpp.
std::shared_ptr<const Operator> make_conv(const NodeSpec& spec);

std::shared_ptr<const Operator> make_scaled_conv(const NodeSpec& spec) {
  NodeSpec plain = spec;
  plain.input_present = {true, true};
  auto op = std::make_shared<ScaledConv>();
  op->conv = dynamic_cast<const Conv&>(*make_conv(plain));
  return op;
}

}  // namespace vellum

#include "graph/operators/matmul/block_product.hpp"

#include "graph/operators/matmul/matmul.hpp"

namespace vellum {

std::vector<TensorType> BlockProduct::infer(Inputs inputs) const {
  const TensorType& a = float_input_type(inputs, 0, "A");
  const DType scales = weights.infer(inputs.subspan(1, std::min<size_t>(inputs.size() - 1, 3)))[0].dtype;
  if (a.dtype != scales || a.shape.empty() || a.shape.back() != weights.rows)
    refuse_model("A is " + to_string(a) + ", expected rows of " + std::to_string(weights.rows) + " " +
                 std::string(name(scales)));
  TensorType y = a;
  y.shape.back() = weights.columns;
  if (has_input(inputs, 4)) {
    const TensorType& bias = float_input_type(inputs, 4, "bias");
    if (bias.dtype != a.dtype || bias.shape != Shape{weights.columns})
      refuse_model("bias is " + to_string(bias) + ", expected " + std::to_string(weights.columns) +
                   " elements of A's type");
  }
  return {y};
}

std::vector<HostTensor> BlockProduct::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  const HostTensor expanded = weights.evaluate(inputs.subspan(1, std::min<size_t>(inputs.size() - 1, 3)))[0];
  const HostTensor product = MatMul().evaluate(std::array{inputs[0], &expanded})[0];
  std::vector<float> values = product.to_floats();
  const bool has_bias = inputs.size() > 4 && inputs[4] != nullptr;
  const std::vector<float> bias = has_bias ? inputs[4]->to_floats() : std::vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (has_bias) values[i] += bias[i % bias.size()];
    values[i] = apply(activation, values[i]);
  }
  return {HostTensor::from<float>(product.dtype(), product.shape(), values)};
}

uint64_t BlockProduct::macs(Inputs inputs) const {
  return static_cast<uint64_t>(checked_multiply(element_count(infer(inputs)[0].shape), weights.rows));
}

std::shared_ptr<const Operator> BlockProduct::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes BlockProduct::attributes() const {
  Attributes result = weights.attributes();
  print_activation(result, activation);
  return result;
}

std::shared_ptr<const Operator> make_block_product(const NodeSpec&) {
  refuse_model("BlockProduct is no operator of models: only MatMulNBits is made of it");
}

}  // namespace vellum

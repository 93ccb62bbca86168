#include "graph/operators/reduction/channel_norm.hpp"

#include <array>

#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/normalization.hpp"

namespace vellum {
namespace {

HostTensor transposed(const HostTensor& image, Ints perm) {
  Transpose transpose;
  transpose.perm = std::move(perm);
  return transpose.evaluate(std::array{&image})[0];
}

}  // namespace

std::vector<TensorType> ChannelNormalization::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  if (x.shape.size() != 4) refuse_model("X has shape " + to_string(x.shape) + ", expected four dimensions");
  for (size_t i = 1; i <= 2; ++i) {
    if (i == 2 && !has_input(inputs, i)) continue;
    const TensorType& factors = float_input_type(inputs, i, i == 1 ? "scale" : "B");
    if (factors.shape != Shape{x.shape[1]})
      refuse_model("scale or B has shape " + to_string(factors.shape) + ", expected " +
                   std::to_string(x.shape[1]));
  }
  return {x};
}

std::vector<HostTensor> ChannelNormalization::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  LayerNormalization norm;
  norm.epsilon = epsilon;
  norm.centred = centred;
  const HostTensor last = transposed(*inputs[0], {0, 2, 3, 1});
  std::vector<const HostTensor*> rows(inputs.begin(), inputs.end());
  rows[0] = &last;
  const HostTensor result = transposed(norm.evaluate(rows)[0], {0, 3, 1, 2});
  if (!activation) return {result};
  Unary function;
  function.activation = activation;
  return function.evaluate(std::array{&result});
}

std::shared_ptr<const Operator> ChannelNormalization::with_activation(const Activation& added) const {
  return copy_with_activation(*this, added);
}

Attributes ChannelNormalization::attributes() const {
  Attributes result;
  result.set("epsilon", epsilon);
  if (!centred) result.set("centred", int64_t{0});
  print_activation(result, activation);
  return result;
}

std::shared_ptr<const Operator> make_channel_normalization(const NodeSpec& spec) {
  auto op = std::make_shared<ChannelNormalization>();
  op->epsilon = spec.attributes->get_float("epsilon", op->epsilon);
  op->centred = spec.attributes->get_int("centred", 1) != 0;
  return op;
}

}  // namespace vellum

#include "graph/operators/conv/separable_conv.hpp"

#include <algorithm>
#include <array>

namespace vellum {
namespace {

constexpr size_t kSeparableInputs = 6;

// The inputs of the two convolutions: X, W1, B1; the result of the first, W2, B2 and the residual.
struct Layers {
  std::array<OperatorInput, 3> first;
  std::array<OperatorInput, 4> second;
};

Layers layers(const SeparableConv& conv, Inputs inputs) {
  std::array<OperatorInput, kSeparableInputs> all;
  std::copy_n(inputs.begin(), std::min(inputs.size(), kSeparableInputs), all.begin());
  Layers result;
  result.first = {all[0], all[1], all[2]};
  const TensorType middle = conv.depthwise.infer(result.first)[0];
  result.second = {OperatorInput{true, middle, nullptr}, all[3], all[4], all[5]};
  return result;
}

}  // namespace

TensorType SeparableConv::middle(Inputs inputs) const { return layers(*this, inputs).second[0].type; }

std::vector<TensorType> SeparableConv::infer(Inputs inputs) const {
  return pointwise.infer(layers(*this, inputs).second);
}

std::vector<HostTensor> SeparableConv::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  std::array<const HostTensor*, kSeparableInputs> all{};
  std::copy_n(inputs.begin(), std::min(inputs.size(), kSeparableInputs), all.begin());
  const HostTensor middle = depthwise.evaluate(std::array{all[0], all[1], all[2]})[0];
  return pointwise.evaluate(std::array{&middle, all[3], all[4], all[5]});
}

uint64_t SeparableConv::macs(Inputs inputs) const {
  const Layers both = layers(*this, inputs);
  return depthwise.macs(both.first) + pointwise.macs(both.second);
}

std::shared_ptr<const Operator> SeparableConv::with_activation(const Activation& added) const {
  const auto both = combine(pointwise.activation, added);
  if (!both) return nullptr;
  auto copy = std::make_shared<SeparableConv>(*this);
  copy->pointwise.activation = *both;
  return copy;
}

Attributes SeparableConv::attributes() const {
  Attributes result = depthwise.attributes();
  Attributes last;
  print_activation(last, pointwise.activation);
  for (const auto& [name, value] : last.values()) result.set("pointwise_" + name, value);
  return result;
}

std::shared_ptr<const Operator> make_separable_conv(const NodeSpec&) {
  refuse_model("SeparableConv is no operator of models: only a pass makes it");
}

}  // namespace vellum

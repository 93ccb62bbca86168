#include "graph/operators/conv/expand_conv.hpp"

#include <algorithm>
#include <array>

namespace vellum {
namespace {

constexpr size_t kExpandInputs = 9;

// The inputs of the operators; those after X are computed by the operator before.
struct Chain {
  std::array<OperatorInput, 3> pointwise, depthwise;
  std::array<OperatorInput, 5> squeeze;
};

Chain chain(const ExpandConv& op, Inputs inputs) {
  std::array<OperatorInput, kExpandInputs> all;
  std::copy_n(inputs.begin(), std::min(inputs.size(), kExpandInputs), all.begin());
  Chain result;
  result.pointwise = {all[0], all[1], all[2]};
  result.depthwise = {OperatorInput{true, op.pointwise.infer(result.pointwise)[0], nullptr}, all[3], all[4]};
  const TensorType y = op.depthwise.infer(result.depthwise)[0];
  result.squeeze = {OperatorInput{true, y, nullptr}, all[5], all[6], all[7], all[8]};
  return result;
}

}  // namespace

TensorType ExpandConv::middle(Inputs inputs) const { return chain(*this, inputs).depthwise[0].type; }

std::vector<TensorType> ExpandConv::infer(Inputs inputs) const {
  const Chain steps = chain(*this, inputs);
  if (!squeeze) return {steps.squeeze[0].type};
  return {steps.squeeze[0].type, squeeze->infer(steps.squeeze)[0]};
}

std::vector<HostTensor> ExpandConv::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  std::array<const HostTensor*, kExpandInputs> all{};
  std::copy_n(inputs.begin(), std::min(inputs.size(), kExpandInputs), all.begin());
  const HostTensor middle = pointwise.evaluate(std::array{all[0], all[1], all[2]})[0];
  HostTensor y = depthwise.evaluate(std::array{&middle, all[3], all[4]})[0];
  if (!squeeze) return {std::move(y)};
  const std::array<const HostTensor*, 5> rest{&y, all[5], all[6], all[7], all[8]};
  HostTensor gates = squeeze->evaluate(rest)[0];
  return {std::move(y), std::move(gates)};
}

uint64_t ExpandConv::pointwise_macs(Inputs inputs) const {
  return pointwise.macs(chain(*this, inputs).pointwise);
}

uint64_t ExpandConv::macs(Inputs inputs) const {
  const Chain steps = chain(*this, inputs);
  return pointwise.macs(steps.pointwise) + depthwise.macs(steps.depthwise) +
         (squeeze ? squeeze->macs(steps.squeeze) : 0);
}

Attributes ExpandConv::attributes() const {
  Attributes result = depthwise.attributes();
  Attributes first;
  print_activation(first, pointwise.activation);
  for (const auto& [name, value] : first.values()) result.set("pointwise_" + name, value);
  if (!squeeze) return result;
  const Attributes gates = squeeze->attributes();
  for (const auto& [name, value] : gates.values()) result.set("squeeze_" + name, value);
  return result;
}

std::shared_ptr<const Operator> make_expand_conv(const NodeSpec&) {
  refuse_model("ExpandConv is no operator of models: only a pass makes it");
}

}  // namespace vellum

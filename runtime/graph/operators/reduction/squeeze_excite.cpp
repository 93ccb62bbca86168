#include "graph/operators/reduction/squeeze_excite.hpp"

#include <algorithm>
#include <array>

#include "graph/operators/reduction/pool.hpp"

namespace vellum {
namespace {

constexpr size_t kInputs = 5;

GlobalPool mean() {
  GlobalPool pool;
  pool.kind = PoolKind::average;
  return pool;
}

Conv product(const Activation& activation) {
  Conv conv;
  conv.activation = activation;
  return conv;
}

// The inputs of the two products: the means and W1, B1; the hidden channels and W2, B2.
struct Steps {
  std::array<OperatorInput, 3> first, second;
};

Steps steps(Inputs inputs) {
  std::array<OperatorInput, kInputs> all;
  for (size_t i = 0; i < std::min(inputs.size(), kInputs); ++i) all[i] = inputs[i];
  float_input_type(all, 0, "X");
  const TensorType means = mean().infer(std::span(all).first(1))[0];
  Steps result;
  result.first = {OperatorInput{true, means, nullptr}, all[1], all[2]};
  result.second = {OperatorInput{true, product({}).infer(result.first)[0], nullptr}, all[3], all[4]};
  return result;
}

}  // namespace

std::vector<TensorType> SqueezeExcite::infer(Inputs inputs) const {
  return product({}).infer(steps(inputs).second);
}

std::vector<HostTensor> SqueezeExcite::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  std::array<const HostTensor*, kInputs> all{};
  std::copy_n(inputs.begin(), std::min(inputs.size(), kInputs), all.begin());
  const HostTensor means = mean().evaluate(std::span(all).first(1))[0];
  const HostTensor channels = product(hidden).evaluate(std::array{&means, all[1], all[2]})[0];
  return product(gate).evaluate(std::array{&channels, all[3], all[4]});
}

uint64_t SqueezeExcite::macs(Inputs inputs) const {
  const Steps both = steps(inputs);
  return product({}).macs(both.first) + product({}).macs(both.second);
}

std::shared_ptr<const Operator> SqueezeExcite::with_activation(const Activation& added) const {
  const auto both = combine(gate, added);
  if (!both) return nullptr;
  auto copy = std::make_shared<SqueezeExcite>(*this);
  copy->gate = *both;
  return copy;
}

Attributes SqueezeExcite::attributes() const {
  Attributes result;
  print_activation(result, gate);
  if (hidden) result.set("hidden", std::string(name(hidden.kind)));
  return result;
}

std::shared_ptr<const Operator> make_squeeze_excite(const NodeSpec&) {
  refuse_model("SqueezeExcite is no operator of models: only a pass makes it");
}

}  // namespace vellum

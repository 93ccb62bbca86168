#include "graph/operators/conv/conv_squeeze_excite.hpp"

#include <algorithm>
#include <array>

namespace vellum {
namespace {

constexpr size_t kConvInputs = 3, kInputs = 7;

// The inputs of the two operators.
struct Steps {
  std::array<OperatorInput, kConvInputs> conv;
  std::array<OperatorInput, 1 + kInputs - kConvInputs> squeeze;
};

Steps steps(const ConvSqueezeExcite& op, Inputs inputs) {
  Steps result;
  for (size_t i = 0; i < std::min(inputs.size(), kInputs); ++i)
    (i < kConvInputs ? result.conv[i] : result.squeeze[i - kConvInputs + 1]) = inputs[i];
  result.squeeze[0] = {true, op.conv.infer(result.conv)[0], nullptr};
  return result;
}

}  // namespace

std::vector<TensorType> ConvSqueezeExcite::infer(Inputs inputs) const {
  const Steps both = steps(*this, inputs);
  return {both.squeeze[0].type, squeeze.infer(both.squeeze)[0]};
}

std::vector<HostTensor> ConvSqueezeExcite::evaluate(HostInputs inputs) const {
  infer_known(*this, inputs);
  std::array<const HostTensor*, kInputs> all{};
  std::copy_n(inputs.begin(), std::min(inputs.size(), kInputs), all.begin());
  HostTensor y = conv.evaluate(std::array{all[0], all[1], all[2]})[0];
  const std::array<const HostTensor*, 5> rest{&y, all[3], all[4], all[5], all[6]};
  HostTensor gates = squeeze.evaluate(rest)[0];
  return {std::move(y), std::move(gates)};
}

uint64_t ConvSqueezeExcite::macs(Inputs inputs) const {
  const Steps both = steps(*this, inputs);
  return conv.macs(both.conv) + squeeze.macs(both.squeeze);
}

Attributes ConvSqueezeExcite::attributes() const {
  Attributes result = conv.attributes();
  const Attributes gates = squeeze.attributes();
  for (const auto& [name, value] : gates.values()) result.set("squeeze_" + name, value);
  return result;
}

std::shared_ptr<const Operator> make_conv_squeeze_excite(const NodeSpec&) {
  refuse_model("ConvSqueezeExcite is no operator of models: only a pass makes it");
}

}  // namespace vellum

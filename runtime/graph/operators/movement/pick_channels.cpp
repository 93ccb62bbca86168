#include "graph/operators/movement/pick_channels.hpp"

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/gather.hpp"

namespace vellum {
namespace {

Concat along_channels() {
  Concat concat;
  concat.axis = 1;
  return concat;
}

}  // namespace

std::vector<TensorType> PickChannels::infer(Inputs inputs) const {
  TensorType y = float_input_type(inputs, 0, "X");
  if (y.shape.size() < 2 || y.shape.size() > 4)
    refuse_model("X has shape " + to_string(y.shape) + ", expected two to four dimensions");
  if (has_input(inputs, 1)) y = along_channels().infer(inputs.first(2))[0];
  const int64_t available = y.shape[1];
  for (const int64_t channel : channels)
    if (channel < 0 || channel >= available)
      refuse_model("channel " + std::to_string(channel) + " of " + std::to_string(available) + " is picked");
  y.shape[1] = static_cast<int64_t>(channels.size());
  return {y};
}

std::vector<HostTensor> PickChannels::evaluate(HostInputs inputs) const {
  const bool joins = inputs.size() > 1 && inputs[1] != nullptr;
  const HostTensor joined = joins ? along_channels().evaluate(inputs.first(2))[0] : *inputs[0];
  Gather pick;
  pick.axis = 1;
  const HostTensor indices = HostTensor::i64({static_cast<int64_t>(channels.size())}, channels);
  return pick.evaluate(std::vector<const HostTensor*>{&joined, &indices});
}

Attributes PickChannels::attributes() const {
  Attributes result;
  result.set("channels", channels);
  return result;
}

std::shared_ptr<const Operator> make_pick_channels(const NodeSpec& spec) {
  auto op = std::make_shared<PickChannels>();
  op->channels = spec.attributes->get_ints("channels");
  return op;
}

}  // namespace vellum

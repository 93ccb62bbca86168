#include "graph/pick_channels.hpp"

#include <cstring>

namespace vellum {

std::vector<TensorType> PickChannels::infer(Inputs inputs) const {
  TensorType y = float_input_type(inputs, 0, "X");
  if (y.shape.size() < 2 || y.shape.size() > 4)
    refuse_model("X has shape " + to_string(y.shape) + ", expected two to four dimensions");
  int64_t available = y.shape[1];
  if (has_input(inputs, 1)) {
    const TensorType& second = float_input_type(inputs, 1, "Y");
    Shape expected = y.shape;
    if (second.shape.size() == expected.size()) expected[1] = second.shape[1];
    if (second.dtype != y.dtype || second.shape != expected)
      refuse_model("Y is " + to_string(second) + " and does not join " + to_string(y) + " along channels");
    available = checked_add(available, second.shape[1]);
  }
  for (const int64_t channel : channels)
    if (channel < 0 || channel >= available)
      refuse_model("channel " + std::to_string(channel) + " of " + std::to_string(available) + " is picked");
  y.shape[1] = static_cast<int64_t>(channels.size());
  return {y};
}

std::vector<HostTensor> PickChannels::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  HostTensor y(type.dtype, type.shape);
  const size_t planes = static_cast<size_t>(type.shape[0]) * channels.size();
  const size_t plane = planes == 0 ? 0 : y.byte_size() / planes;
  std::byte* out = y.mutable_data();
  for (int64_t n = 0; n < type.shape[0]; ++n) {
    for (const int64_t channel : channels) {
      const int64_t first = inputs[0]->shape()[1];
      const HostTensor& x = *inputs[channel < first ? 0 : 1];
      const int64_t at = n * x.shape()[1] + (channel < first ? channel : channel - first);
      std::memcpy(out, x.data() + static_cast<size_t>(at) * plane, plane);
      out += plane;
    }
  }
  return {y};
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

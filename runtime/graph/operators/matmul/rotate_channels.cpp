#include "graph/operators/matmul/rotate_channels.hpp"

namespace vellum {
namespace {

void check_table(const Shape& table, const Shape& heads) {
  bool fits = table.size() == 4 && table[0] == 2;
  for (size_t i = 1; fits && i < 4; ++i) fits = table[i] == heads[i] || (i < 3 && table[i] == 1);
  if (!fits) refuse_model("a table of shape " + to_string(table) + " does not fit " + to_string(heads));
}

}  // namespace

std::vector<TensorType> RotateChannels::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  check_view(view, x.shape);
  check_table(float_input_type(inputs, 1, "table").shape, view.shape);
  const int64_t channels = view.shape[3];
  if (std::ssize(partner) != channels)
    refuse_model(std::to_string(channels) + " channels have " + std::to_string(partner.size()) + " partners");
  for (const int64_t other : partner)
    if (other < 0 || other >= channels) refuse_model("there is no channel " + std::to_string(other));
  if (element_count(output) != element_count(view.shape))
    refuse_model("the output has not shape " + to_string(output));
  return {{x.dtype, output}};
}

std::vector<HostTensor> RotateChannels::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs).front();
  const std::vector<float> table = inputs[1]->to_floats();
  const std::vector<float> x = gather_strided(*inputs[0], view.shape, view.strides, view.offset).to_floats();
  std::vector<float> y(x.size());
  const int64_t channels = view.shape[3];
  const Shape& whole = inputs[1]->shape();
  const std::vector<int64_t> strides = broadcast_strides({1, whole[1], whole[2], whole[3]}, view.shape);
  size_t i = 0;
  for_each_offset<1>(view.shape, {strides}, {0}, [&](const auto& at) {
    const size_t channel = i % static_cast<size_t>(channels), place = static_cast<size_t>(at[0]);
    const float other = x[i - channel + static_cast<size_t>(partner[channel])];
    y[i] = x[i] * table[place] + other * table[place + table.size() / 2];
    ++i;
  });
  return {HostTensor::from<float>(type.dtype, output, y)};
}

Attributes RotateChannels::attributes() const {
  Attributes result;
  result.set("offset", view.offset);
  result.set("shape", view.shape);
  result.set("strides", view.strides);
  result.set("partner", partner);
  result.set("output", output);
  return result;
}

std::shared_ptr<const Operator> make_rotate_channels(const NodeSpec& spec) {
  auto op = std::make_shared<RotateChannels>();
  op->view = {spec.attributes->get_int("offset", 0), spec.attributes->get_ints("shape"),
              spec.attributes->get_ints("strides")};
  op->partner = spec.attributes->get_ints("partner");
  op->output = spec.attributes->get_ints("output");
  return op;
}

}  // namespace vellum

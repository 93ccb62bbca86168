#include "graph/operators/elementwise/byte_table.hpp"

#include <algorithm>
#include <cmath>

namespace vellum {

std::vector<TensorType> ByteTable::infer(Inputs inputs) const {
  const TensorType& x = float_input_type(inputs, 0, "X");
  const TensorType& table = float_input_type(inputs, 1, "table");
  const int64_t count = element_count(table.shape);
  if (count != kEntries && count != kEntriesOf16Bits)
    refuse_model("a table of shape " + to_string(table.shape) + ", expected 256 or 65536 elements");
  return {x};
}

std::vector<HostTensor> ByteTable::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs)[0];
  const std::vector<float> table = inputs[1]->to_floats();
  std::vector<float> values = inputs[0]->to_floats();
  for (float& value : values) {
    const float steps = std::nearbyint(value / x_step) - static_cast<float>(first);
    const auto last = static_cast<float>(table.size() - 1);
    value = table[static_cast<size_t>(std::isnan(steps) ? 0.0f : std::clamp(steps, 0.0f, last))];
  }
  return {HostTensor::from<float>(type.dtype, type.shape, values)};
}

Attributes ByteTable::attributes() const {
  Attributes result;
  result.set("x_step", x_step);
  result.set("first", first);
  result.set("y_step", y_step);
  result.set("y_least", y_least);
  result.set("y_most", y_most);
  return result;
}

std::shared_ptr<const Operator> make_byte_table(const NodeSpec& spec) {
  auto op = std::make_shared<ByteTable>();
  op->x_step = spec.attributes->get_float("x_step", 1.0f);
  op->y_step = spec.attributes->get_float("y_step", 1.0f);
  op->first = spec.attributes->get_int("first", 0);
  op->y_least = spec.attributes->get_int("y_least", 0);
  op->y_most = spec.attributes->get_int("y_most", 255);
  if (!(op->x_step > 0.0f) || !std::isfinite(op->x_step))
    refuse_model("a step of " + std::to_string(op->x_step));
  return op;
}

}  // namespace vellum

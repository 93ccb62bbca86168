// Clips the real numbers of quantised tensors to those that their integers stand for, as an integer runtime
// does. Converters of older files leave out a ReLU or ReLU6 that the range of its tensor implies.
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "import/tflite/value_range.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

StoredRange Writer::range_of(const Quantisation& quantisation) {
  return stored_range(quantisation.stored, quantisation.scale.to_floats()[0],
                      quantisation.zero_point.to_ints()[0]);
}

ValueRange Writer::range_of(ValueId value) {
  if (const auto known = ranges_.find(value); known != ranges_.end()) return known->second;
  const HostTensor* constant = graph_.constant(value);
  if (constant == nullptr || !is_float(constant->dtype())) return {};
  return ranges_[value] = range_of_elements(*constant);
}

void Writer::note_range(const Node& node) {
  if (!is_quantised_) return;
  const auto input_range = [&](size_t i) {
    return i < node.inputs.size() && node.inputs[i] != kNoValue ? range_of(node.inputs[i]) : ValueRange{};
  };
  const ValueRange range = range_of_results(*node.op, node.inputs.size(), input_range);
  for (const ValueId output : node.outputs)
    if (output != kNoValue) ranges_[output] = range;
}

void Writer::clip_to_range(int32_t tensor) {
  Tensor& entry = at(tensor);
  if (!entry.quantisation || !is_byte(entry.quantisation->stored)) return;
  if (entry.constant) entry.constant = stored_and_real(*entry.constant, *entry.quantisation);
  if (entry.is_constant) return;
  if (entry.is_interface && entry.readers == 1 && !is_called_) return;  // QuantizeLinear clips it
  const StoredRange range = range_of(*entry.quantisation);
  for (ValueId* value : {&entry.file, &entry.image})
    if (*value != kNoValue) *value = clipped(*value, range);
}

HostTensor Writer::stored_and_real(const HostTensor& real, const Quantisation& quantisation) {
  file_.count(static_cast<uint64_t>(real.elements()), sizeof(float));
  QuantizeLinear quantise;
  quantise.axis = quantisation.axis;
  const HostTensor* inputs[] = {&real, &quantisation.scale, &quantisation.zero_point};
  return to_real(quantise.evaluate(inputs)[0], quantisation);
}

ValueId Writer::clipped(ValueId value, const StoredRange& stored) {
  Node* producer = graph_.nodes.empty() ? nullptr : &graph_.nodes.back();
  if (producer != nullptr && producer->outputs[0] != value) producer = nullptr;
  const Activation clip =
      clipping(stored, range_of(value), producer == nullptr ? nullptr : producer->op.get());
  if (!clip) return value;
  auto op = std::make_shared<Unary>();
  const auto* activates = producer == nullptr ? nullptr : dynamic_cast<const Unary*>(producer->op.get());
  if (activates != nullptr && activates->kind == UnaryKind::activation) {
    if (const auto both = combine(activates->activation, clip)) {
      op->activation = *both;
      producer->op = std::move(op);
      ranges_[value] = stored.values;
      return value;
    }
  }
  const std::string name = graph_.values[value].name;
  const std::string before = unique(name + "_unclipped");
  graph_.values[value].name = before;
  if (producer != nullptr && producer->name == name) producer->name = before;
  op->activation = clip;
  const ValueId result = graph_.add_value(name);
  add_node(std::move(op), {value}, {result});
  ranges_[result] = stored.values;
  return result;
}

}  // namespace vellum::tflite

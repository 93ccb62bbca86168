// Writer's functions that round quantised tensors to the numbers that their integers represent, as an integer
// runtime does. Rounding also clips: older converters omit a ReLU or ReLU6 if the range of its tensor has the
// same effect.
#include <algorithm>
#include <cmath>

#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/moves_elements.hpp"
#include "graph/operators/reduction/fixed_rows.hpp"
#include "graph/operators/reduction/softmax.hpp"
#include "import/tflite/integer_results.hpp"
#include "import/tflite/stored_grid.hpp"
#include "import/tflite/writer.hpp"

namespace vellum::tflite {

StoredGrid Writer::grid_of(const Quantisation& quantisation) {
  return stored_grid(quantisation.stored, quantisation.scale.to_floats()[0],
                     quantisation.zero_point.to_ints()[0]);
}

std::optional<float> Writer::byte_scale(int32_t tensor) const {
  const auto& quantisation = at(tensor).quantisation;
  return quantisation && is_byte(quantisation->stored) ? grid_scale(tensor) : std::nullopt;
}

std::optional<float> Writer::grid_scale(int32_t tensor) const {
  const auto& quantisation = at(tensor).quantisation;
  if (!quantisation || !is_stored_grid(quantisation->stored) || quantisation->scale.elements() != 1)
    return std::nullopt;
  const float scale = quantisation->scale.to_floats()[0];
  return scale > 0.0f && std::isfinite(scale) ? std::optional(scale) : std::nullopt;
}

bool Writer::has_zero_points(int32_t tensor) const {
  const std::vector<int64_t> zeros = at(tensor).quantisation->zero_point.to_ints();
  return std::ranges::any_of(zeros, [](int64_t zero) { return zero != 0; });
}

void Writer::note_grid(const Node& node) {
  if (!is_quantised_ || node.inputs.empty()) return;
  const auto note = [&](float step, int64_t least, int64_t most) {
    grids_[node.outputs[0]] = {step, static_cast<float>(least), static_cast<float>(most)};
  };
  if (const auto* table = dynamic_cast<const ByteTable*>(node.op.get()))
    note(table->y_step, table->y_least, table->y_most);
  if (const auto* rows = dynamic_cast<const FixedRows*>(node.op.get()))
    note(rows->y_step, rows->y_least, rows->y_most);
  const bool joins = dynamic_cast<const Concat*>(node.op.get()) != nullptr;
  if (!joins && !moves_elements(node)) return;
  const auto first = grids_.find(node.inputs[0]);
  if (first == grids_.end()) return;
  const StoredGrid grid = first->second;
  for (const ValueId input : node.inputs) {
    const auto found = grids_.find(input);
    if (joins && (found == grids_.end() || found->second != grid)) return;
  }
  for (const ValueId output : node.outputs)
    if (output != kNoValue) grids_[output] = grid;
}

void Writer::round_to_grid(int32_t tensor) {
  Tensor& entry = at(tensor);
  if (!entry.quantisation || !is_stored_grid(entry.quantisation->stored)) return;
  if (entry.constant) entry.constant = stored_and_real(*entry.constant, *entry.quantisation);
  if (entry.is_constant) return;
  // QuantizeLinear rounds a graph output, but an operator in integers does it as a part of its own result.
  const bool is_output = entry.is_interface && entry.readers == 1 && !is_called_;
  if (is_output && !graph_.nodes.empty() && dynamic_cast<const Softmax*>(graph_.nodes.back().op.get()))
    return;
  const StoredGrid grid = grid_of(*entry.quantisation);
  for (ValueId* value : {&entry.file, &entry.image})
    if (*value != kNoValue) *value = rounded(*value, grid);
}

HostTensor Writer::stored_and_real(const HostTensor& real, const Quantisation& quantisation) {
  file_.count(static_cast<uint64_t>(real.elements()), sizeof(float));
  QuantizeLinear quantise;
  quantise.axis = quantisation.axis;
  const HostTensor* inputs[] = {&real, &quantisation.scale, &quantisation.zero_point};
  return to_real(quantise.evaluate(inputs)[0], quantisation);
}

ValueId Writer::rounded(ValueId value, const StoredGrid& grid) {
  if (const auto known = grids_.find(value); known != grids_.end() && known->second == grid) return value;
  Node* producer = graph_.nodes.empty() ? nullptr : &graph_.nodes.back();
  if (producer != nullptr && producer->outputs[0] != value) producer = nullptr;
  Activation rounding = tflite::rounding(grid);
  if (auto exact = producer == nullptr ? nullptr : with_result_in_integers(*producer->op, rounding)) {
    producer->op = std::move(exact);
    grids_[value] = grid;
    return value;
  }
  rounding.ties_away = true;  // AffineQuantize() of reference/quantize.h calls round()
  auto op = std::make_shared<Unary>();
  const auto* activates = producer == nullptr ? nullptr : dynamic_cast<const Unary*>(producer->op.get());
  if (activates != nullptr && activates->kind == UnaryKind::activation) {
    if (const auto both = combine(activates->activation, rounding)) {
      op->activation = *both;
      producer->op = std::move(op);
      grids_[value] = grid;
      return value;
    }
  }
  const std::string name = graph_.values[value].name;
  const std::string before = unique(name + "_unrounded");
  graph_.values[value].name = before;
  if (producer != nullptr && producer->name == name) producer->name = before;
  op->activation = rounding;
  const ValueId result = graph_.add_value(name);
  add_node(std::move(op), {value}, {result});
  grids_[result] = grid;
  return result;
}

}  // namespace vellum::tflite

#include "passes/rewrite/editor.hpp"

#include <algorithm>

namespace vellum {
namespace {

constexpr size_t kNoNode = SIZE_MAX;

}  // namespace

GraphEditor::GraphEditor(Graph& graph) : graph_(graph), names_(graph) { index(); }

void GraphEditor::index() {
  producers_.assign(graph_.values.size(), kNoNode);
  readers_.assign(graph_.values.size(), {});
  is_output_.assign(graph_.values.size(), false);
  removed_.assign(graph_.nodes.size(), false);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const ValueId id : graph_.nodes[i].inputs) {
      if (id != kNoValue) readers_[id].push_back(i);
    }
    for (const ValueId id : graph_.nodes[i].outputs) {
      if (id != kNoValue) producers_[id] = i;
    }
  }
  for (const ValueId id : graph_.outputs) is_output_[id] = true;
}

std::optional<size_t> GraphEditor::producer(ValueId value) const {
  return producers_[value] == kNoNode ? std::nullopt : std::optional(producers_[value]);
}

std::optional<size_t> GraphEditor::only_reader(ValueId value) const {
  if (is_output_[value] || readers_[value].size() != 1) return std::nullopt;
  return readers_[value].front();
}

const HostTensor* GraphEditor::constant_input(size_t index, size_t slot) const {
  const auto& inputs = node(index).inputs;
  return slot < inputs.size() && inputs[slot] != kNoValue ? constant(inputs[slot]) : nullptr;
}

void GraphEditor::forget_read(ValueId value, size_t index) {
  auto& readers = readers_[value];
  readers.erase(std::find(readers.begin(), readers.end(), index));
}

void GraphEditor::set_inputs(size_t index, std::vector<ValueId> inputs) {
  for (const ValueId id : node(index).inputs) {
    if (id != kNoValue) forget_read(id, index);
  }
  for (const ValueId id : inputs) {
    if (id != kNoValue) readers_[id].push_back(index);
  }
  graph_.nodes[index].inputs = std::move(inputs);
}

void GraphEditor::take_output(size_t index, ValueId output) {
  for (const ValueId id : node(index).outputs) {
    if (id != kNoValue) producers_[id] = kNoNode;
  }
  graph_.nodes[index].outputs = {output};
  producers_[output] = index;
}

ValueId GraphEditor::add_constant(const std::string& name, HostTensor tensor) {
  producers_.push_back(kNoNode);
  readers_.emplace_back();
  is_output_.push_back(false);
  return graph_.add_constant(names_.make(name), std::move(tensor));
}

void GraphEditor::remove(size_t index) {
  set_inputs(index, {});
  for (const ValueId id : node(index).outputs) {
    if (id != kNoValue && producers_[id] == index) producers_[id] = kNoNode;
  }
  removed_[index] = true;
}

void GraphEditor::replace_reads(ValueId from, ValueId to) {
  if (from == to) return;
  for (const size_t reader : readers_[from]) {
    auto& inputs = graph_.nodes[reader].inputs;
    *std::find(inputs.begin(), inputs.end(), from) = to;
    readers_[to].push_back(reader);
  }
  readers_[from].clear();
}

bool GraphEditor::bypass(size_t index, size_t slot) {
  const ValueId input = node(index).inputs[slot], output = node(index).outputs[0];
  if (!is_output_[output]) {
    remove(index);
    replace_reads(output, input);
    return true;
  }
  if (const HostTensor* value = constant(input)) {
    remove(index);
    graph_.values[output].constant = *value;
    return true;
  }
  const auto source = producer(input);
  if (!source || is_output_[input]) return false;
  // The producer of the input writes the graph output itself.
  remove(index);
  auto& outputs = graph_.nodes[*source].outputs;
  *std::find(outputs.begin(), outputs.end(), input) = output;
  producers_[input] = kNoNode;
  producers_[output] = *source;
  replace_reads(input, output);
  return true;
}

void GraphEditor::commit() {
  size_t kept = 0;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (removed_[i]) continue;
    if (kept != i) graph_.nodes[kept] = std::move(graph_.nodes[i]);
    ++kept;
  }
  graph_.nodes.resize(kept);
  index();
}

}  // namespace vellum

#include "passes/rewrite/graph_editor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vellum {

GraphEditor::GraphEditor(Graph& graph)
    : graph_(graph),
      names_(graph),
      producers_(graph.values.size(), kNoNode),
      readers_(graph.values.size()),
      is_output_(graph.values.size(), false),
      next_(graph.nodes.size()),
      previous_(graph.nodes.size()),
      removed_(graph.nodes.size(), false) {
  const size_t count = graph.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    next_[i] = i + 1 < count ? i + 1 : kNoNode;
    previous_[i] = i > 0 ? i - 1 : kNoNode;
    add_reads(i);
    for (const ValueId id : graph.nodes[i].outputs)
      if (id != kNoValue) producers_[id] = i;
  }
  if (count > 0) first_ = 0, last_ = count - 1;
  for (const ValueId id : graph.outputs) is_output_[id] = true;
}

size_t GraphEditor::next(size_t index) const {
  do index = next_[index];
  while (index != kNoNode && removed_[index]);
  return index;
}

size_t GraphEditor::previous(size_t index) const {
  do index = previous_[index];
  while (index != kNoNode && removed_[index]);
  return index;
}

GraphEditor::Nodes::Iterator GraphEditor::Nodes::begin() const {
  Iterator iterator(&editor_, backwards_, backwards_ ? editor_.last_ : editor_.first_);
  if (*iterator != kNoNode && editor_.removed_[*iterator]) ++iterator;
  return iterator;
}

GraphEditor::Nodes GraphEditor::nodes() const { return {*this, false}; }
GraphEditor::Nodes GraphEditor::nodes_backwards() const { return {*this, true}; }

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

ValueId GraphEditor::add_value(Value value) {
  value.name = names_.make(value.name);
  graph_.values.push_back(std::move(value));
  producers_.push_back(kNoNode);
  readers_.emplace_back();
  is_output_.push_back(false);
  return static_cast<ValueId>(graph_.values.size() - 1);
}

ValueId GraphEditor::add_value(const std::string& name) { return add_value(Value{name, {}, false, {}}); }

ValueId GraphEditor::add_value(const std::string& name, TensorType type) {
  return add_value(Value{name, std::move(type), true, {}});
}

ValueId GraphEditor::add_constant(const std::string& name, HostTensor tensor) {
  return add_value(Value{name, tensor.type(), true, std::move(tensor)});
}

// A node that has no place in the execution order yet.
size_t GraphEditor::append(Node node) {
  const size_t index = graph_.nodes.size();
  order_changed_ = true;
  graph_.nodes.push_back(std::move(node));
  next_.push_back(kNoNode);
  previous_.push_back(kNoNode);
  removed_.push_back(false);
  add_reads(index);
  for (const ValueId id : graph_.nodes[index].outputs)
    if (id != kNoValue) producers_[id] = index;
  return index;
}

void GraphEditor::link(size_t before, size_t inserted, size_t after) {
  previous_[inserted] = before;
  next_[inserted] = after;
  (before == kNoNode ? first_ : next_[before]) = inserted;
  (after == kNoNode ? last_ : previous_[after]) = inserted;
}

size_t GraphEditor::insert_before(size_t index, Node node) {
  const size_t inserted = append(std::move(node));
  link(previous_[index], inserted, index);
  return inserted;
}

size_t GraphEditor::insert_after(size_t index, Node node) {
  const size_t inserted = append(std::move(node));
  link(index, inserted, next_[index]);
  return inserted;
}

ValueId GraphEditor::compute_before(size_t index, const std::string& name, std::shared_ptr<const Operator> op,
                                    std::vector<ValueId> inputs, TensorType type) {
  const ValueId value = add_value(name, std::move(type));
  insert_before(index, {graph_.values[value].name, std::move(op), std::move(inputs), {value}});
  return value;
}

void GraphEditor::add_reads(size_t index) {
  for (const ValueId id : node(index).inputs)
    if (id != kNoValue) readers_[id].push_back(index);
}

void GraphEditor::forget_reads(size_t index) {
  for (const ValueId id : node(index).inputs) {
    if (id == kNoValue) continue;
    auto& readers = readers_[id];
    // From the end: what unrolls a loop forgets the last of many readers again and again.
    readers.erase(std::prev(std::find(readers.rbegin(), readers.rend(), index).base()));
  }
}

void GraphEditor::forget_outputs(size_t index) {
  for (const ValueId id : node(index).outputs)
    if (id != kNoValue && producers_[id] == index) producers_[id] = kNoNode;
}

void GraphEditor::replace(size_t index, Node node) {
  set_operator(index, std::move(node.op));
  set_inputs(index, std::move(node.inputs));
  set_outputs(index, std::move(node.outputs));
  graph_.nodes[index].name = std::move(node.name);
}

void GraphEditor::replace(size_t index, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs) {
  set_operator(index, std::move(op));
  set_inputs(index, std::move(inputs));
}

void GraphEditor::set_operator(size_t index, std::shared_ptr<const Operator> op) {
  graph_.nodes[index].op = std::move(op);
}

void GraphEditor::set_inputs(size_t index, std::vector<ValueId> inputs) {
  forget_reads(index);
  graph_.nodes[index].inputs = std::move(inputs);
  add_reads(index);
}

void GraphEditor::set_outputs(size_t index, std::vector<ValueId> outputs) {
  forget_outputs(index);
  for (const ValueId id : outputs)
    if (id != kNoValue) producers_[id] = index;
  graph_.nodes[index].outputs = std::move(outputs);
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

void GraphEditor::remove(size_t index) {
  forget_reads(index);
  forget_outputs(index);
  graph_.nodes[index].inputs.clear();
  removed_[index] = true;
  order_changed_ = true;
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
  // The producer of the input computes the graph output itself.
  remove(index);
  std::vector<ValueId> outputs = node(*source).outputs;
  *std::find(outputs.begin(), outputs.end(), input) = output;
  set_outputs(*source, std::move(outputs));
  replace_reads(input, output);
  return true;
}

void GraphEditor::commit() {
  if (!order_changed_) return;
  std::vector<Node> nodes;
  nodes.reserve(graph_.nodes.size());
  for (const size_t index : this->nodes()) nodes.push_back(std::move(graph_.nodes[index]));
  graph_.nodes = std::move(nodes);
}

}  // namespace vellum

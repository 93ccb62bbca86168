// Images that a model keeps in N, H, W, C between transpositions, as converters from TensorFlow leave them
// and layers over channels want them, are computed in N, C, H, W instead. Operators that can be turned
// (passes/channels_first) and hang together are a region; turning it makes transpositions at its border
// unnecessary and needs others. It is done where that makes them fewer, or as many where an operator that
// works on windows of an image stands behind one of them: then the region can be fused with it, and what
// stays is nearer to the graph's inputs and outputs.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/operators/reshape.hpp"
#include "graph/operators/unary.hpp"
#include "passes/layout/channels_first.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/unique_names.hpp"

namespace vellum {
namespace {

constexpr size_t kNone = SIZE_MAX;

// Its image is N, C, H, W without doubt.
bool works_on_windows(const Node& node) {
  constexpr std::array<std::string_view, 9> types{
      "Conv",   "ConvTranspose",      "MaxPool",      "AveragePool", "GlobalAveragePool",
      "Resize", "BatchNormalization", "DepthToSpace", "SpaceToDepth"};
  return std::ranges::find(types, node.op->type()) != types.end();
}

class Regions {
 public:
  explicit Regions(const Graph& graph)
      : graph_(graph),
        producers_(graph.values.size(), kNone),
        readers_(graph.values.size()),
        is_output_(graph.values.size()),
        turned_(graph.nodes.size()),
        parent_(graph.nodes.size()),
        gain_(graph.nodes.size()),
        beside_windows_(graph.nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      turned_[i] = turned(graph, graph.nodes[i]);
      for (const ValueId id : graph.nodes[i].outputs)
        if (id != kNoValue) producers_[id] = i;
      for (const ValueId id : graph.nodes[i].inputs)
        if (id != kNoValue) readers_[id].push_back(i);
    }
    for (const ValueId id : graph.outputs) is_output_[id] = true;
    for (ValueId id = 0; id < graph.values.size(); ++id) join_around(id);
    for (ValueId id = 0; id < graph.values.size(); ++id) count(id);
  }

  // Whether the node is to be turned.
  bool chosen(size_t node) const {
    const size_t region = find(node);
    return turned_[node] && gain_[region] >= (beside_windows_[region] ? 0 : 1);
  }
  const TurnedOperator& turned_operator(size_t node) const { return *turned_[node]; }

  // The node that transposes `value` to N, H, W, C, if one computes it.
  std::optional<size_t> transposed_from(ValueId value) const {
    const size_t producer = producers_[value];
    if (producer == kNone || !is_to_channels_last(graph_.nodes[producer])) return std::nullopt;
    return producer;
  }
  // Whether the node does nothing but turn what a region has turned already.
  bool undoes(size_t node) const { return is_to_channels_first(graph_.nodes[node]); }
  bool is_output(ValueId value) const { return is_output_[value]; }
  // Whether someone needs the value of a region in N, H, W, C.
  bool needed_as_it_is(ValueId value) const {
    return is_output_[value] ||
           std::any_of(readers_[value].begin(), readers_[value].end(),
                       [&](size_t reader) { return !undoes(reader) && !reads_turned(reader, value); });
  }

 private:
  size_t find(size_t node) const {
    while (parent_[node] != node) node = parent_[node];
    return node;
  }

  // Whether the node is one of a region that reads the value as an image.
  bool reads_turned(size_t node, ValueId value) const {
    if (!turned_[node] || graph_.values[value].constant) return false;
    const auto& inputs = graph_.nodes[node].inputs;
    const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(turned_[node]->inputs);
    return std::find(inputs.begin(), end, value) != end;
  }

  // One that computes an image and all that read it, or all that read one of another's, are of one region.
  void join_around(ValueId value) {
    size_t first = producers_[value];
    if (first != kNone && !turned_[first]) first = kNone;
    for (const size_t reader : readers_[value]) {
      if (!reads_turned(reader, value)) continue;
      if (first == kNone) first = reader;
      const size_t a = find(first), b = find(reader);
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }

  // Whether a transposition to N, H, W, C reads, maybe through activations, what a window operator computes.
  bool comes_from_windows(size_t transpose) const {
    size_t node = producers_[graph_.nodes[transpose].inputs[0]];
    while (node != kNone && dynamic_cast<const Unary*>(graph_.nodes[node].op.get()) != nullptr)
      node = producers_[graph_.nodes[node].inputs[0]];
    return node != kNone && works_on_windows(graph_.nodes[node]);
  }
  bool goes_to_windows(size_t transpose) const {
    const auto& readers = readers_[graph_.nodes[transpose].outputs[0]];
    return std::any_of(readers.begin(), readers.end(),
                       [&](size_t reader) { return works_on_windows(graph_.nodes[reader]); });
  }

  // What turning the region that the value borders on saves and costs in transpositions of it.
  void count(ValueId value) {
    const size_t producer = producers_[value];
    if (producer != kNone && turned_[producer]) {
      const size_t region = find(producer);
      for (const size_t reader : readers_[value]) {
        if (!undoes(reader)) continue;
        ++gain_[region];
        if (goes_to_windows(reader)) beside_windows_[region] = true;
      }
      if (needed_as_it_is(value)) --gain_[region];
      return;
    }
    const auto reader = std::find_if(readers_[value].begin(), readers_[value].end(),
                                     [&](size_t node) { return reads_turned(node, value); });
    if (reader == readers_[value].end()) return;
    const size_t region = find(*reader);
    const auto transpose = transposed_from(value);
    if (!transpose) {
      --gain_[region];
      return;
    }
    if (!needed_as_it_is(value)) ++gain_[region];
    if (comes_from_windows(*transpose)) beside_windows_[region] = true;
  }

  const Graph& graph_;
  std::vector<size_t> producers_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_output_;
  std::vector<std::optional<TurnedOperator>> turned_;
  std::vector<size_t> parent_;        // of a forest: the nodes of a region have one root
  std::vector<int64_t> gain_;         // of the region with this root
  std::vector<bool> beside_windows_;  // likewise: only a transposition lies between it and a window operator
};

class Turning {
 public:
  Turning(Graph& graph, const Regions& regions)
      : graph_(graph), regions_(regions), first_(graph.values.size(), kNoValue), names_(graph) {}

  void run() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (size_t i = 0; i < nodes.size(); ++i) {
      Node& node = nodes[i];
      if (regions_.chosen(i)) {
        turn(i, std::move(node));
      } else if (undone(i, node)) {
        replace(std::move(node));
      } else {
        if (is_to_channels_last(node)) first_or_mark(node);
        written_.push_back(std::move(node));
      }
    }
    read_replacements();
    graph_.nodes = std::move(written_);
  }

 private:
  bool undone(size_t index, const Node& node) const {
    return regions_.undoes(index) && first_[node.inputs[0]] != kNoValue &&
           !from_transpose_.contains(node.inputs[0]);
  }

  // Who reads the transposition reads what it would make again; an output keeps its name.
  void replace(Node node) {
    const ValueId first = first_[node.inputs[0]];
    if (!regions_.is_output(node.outputs[0])) {
      replaced_.emplace_back(node.outputs[0], first);
      return;
    }
    node.op = std::make_shared<Identity>();
    node.inputs = {first};
    written_.push_back(std::move(node));
  }

  // What the transposition reads is its result in N, C, H, W.
  void first_or_mark(const Node& node) {
    first_[node.outputs[0]] = node.inputs[0];
    from_transpose_.insert(node.outputs[0]);
  }

  ValueId new_turned(ValueId value) {
    const Value& from = graph_.values[value];
    const TensorType type{from.type.dtype, channels_first(from.type.shape)};
    const std::string name = names_.make(from.name + "_nchw");
    const ValueId id = graph_.add_value(name, type, true);
    first_.resize(graph_.values.size(), kNoValue);
    first_[value] = id;
    return id;
  }

  ValueId add_constant(const std::string& name, const HostTensor& tensor) {
    const ValueId id = graph_.add_constant(names_.make(name), tensor);
    first_.resize(graph_.values.size(), kNoValue);
    return id;
  }

  ValueId turned_constant(ValueId value) {
    const HostTensor turned = channels_first(*graph_.constant(value));
    if (turned.shape() == graph_.values[value].type.shape && turned.elements() == 1) return value;
    return add_constant(graph_.values[value].name + "_nchw", turned);
  }

  // The input in N, C, H, W, transposed here where there is none yet.
  ValueId turned_input(ValueId value) {
    if (value == kNoValue) return value;
    if (graph_.constant(value) != nullptr) return turned_constant(value);
    if (first_[value] != kNoValue) return first_[value];
    const ValueId id = new_turned(value);
    written_.push_back({graph_.values[id].name, to_channels_first(), {value}, {id}});
    return id;
  }

  void turn(size_t index, Node node) {
    const TurnedOperator& turned = regions_.turned_operator(index);
    node.inputs.resize(turned.inputs);
    for (ValueId& input : node.inputs) input = turned_input(input);
    for (const HostTensor& parameter : turned.parameters)
      node.inputs.push_back(add_constant(node.name + "/parameter", parameter));
    const ValueId output = node.outputs[0];
    node.outputs[0] = new_turned(output);
    node.op = turned.op;
    const ValueId first = node.outputs[0];
    written_.push_back(std::move(node));
    if (regions_.needed_as_it_is(output))
      written_.push_back({graph_.values[output].name, to_channels_last(), {first}, {output}});
  }

  void read_replacements() {
    std::vector<ValueId> now(graph_.values.size());
    std::iota(now.begin(), now.end(), ValueId{0});
    for (const auto& [from, to] : replaced_) now[from] = now[to];
    for (Node& node : written_)
      for (ValueId& input : node.inputs)
        if (input != kNoValue) input = now[input];
  }

  Graph& graph_;
  const Regions& regions_;
  std::vector<ValueId> first_;  // of each value in N, H, W, C: the same in N, C, H, W
  std::unordered_set<ValueId> from_transpose_;
  std::vector<std::pair<ValueId, ValueId>> replaced_;
  std::vector<Node> written_;
  UniqueNames names_;
};

}  // namespace

void move_transposes(Graph& graph) {
  const Graph before = graph;
  const Regions regions(before);
  Turning(graph, regions).run();
}

}  // namespace vellum

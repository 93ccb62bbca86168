// What passes change a graph with: who produces and who reads each value, kept right through every change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "passes/rewrite/unique_names.hpp"

namespace vellum {

// Nodes keep their index until commit(), which takes the removed ones out of the graph.
class GraphEditor {
 public:
  explicit GraphEditor(Graph& graph);

  const Graph& graph() const { return graph_; }
  size_t node_count() const { return graph_.nodes.size(); }
  const Node& node(size_t index) const { return graph_.nodes[index]; }
  bool removed(size_t index) const { return removed_[index]; }
  bool is(size_t index, std::string_view type) const {
    return !removed_[index] && node(index).op->type() == type;
  }

  // The node that computes `value`; none for graph inputs and constants.
  std::optional<size_t> producer(ValueId value) const;
  // One entry per input slot that reads `value`, so a node may be there twice.
  const std::vector<size_t>& readers(ValueId value) const { return readers_[value]; }
  bool is_graph_output(ValueId value) const { return is_output_[value]; }
  // The node that alone reads `value`, if there is one and the value is no graph output.
  std::optional<size_t> only_reader(ValueId value) const;
  const HostTensor* constant(ValueId value) const { return graph_.constant(value); }
  const HostTensor* constant_input(size_t index, size_t slot) const;
  const TensorType& type(ValueId value) const { return graph_.values[value].type; }

  void set_operator(size_t index, std::shared_ptr<const Operator> op) {
    graph_.nodes[index].op = std::move(op);
  }
  void set_inputs(size_t index, std::vector<ValueId> inputs);
  // Makes `index` compute `output` (its only one) in place of what it computed; the former producer must be
  // removed.
  void take_output(size_t index, ValueId output);
  // A new constant; a constant is never changed, since other nodes may share it.
  ValueId add_constant(const std::string& name, HostTensor tensor);
  void remove(size_t index);
  // Every node that reads `from` reads `to` instead.
  void replace_reads(ValueId from, ValueId to);
  // Removes a node whose first output equals its input `slot`. Names of graph inputs and outputs stay, so a
  // node between a graph input and a graph output, or between two graph outputs, has to stay too: then false.
  bool bypass(size_t index, size_t slot = 0);

  void commit();

 private:
  void index();
  void forget_read(ValueId value, size_t index);

  Graph& graph_;
  std::vector<size_t> producers_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_output_, removed_;
  UniqueNames names_;
};

}  // namespace vellum

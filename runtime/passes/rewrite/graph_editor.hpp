// All changes of passes to a graph go through this editor: they match (rewrite/match.hpp), insert, replace
// and remove nodes. The editor keeps the producer and the readers of every value up to date.
//
//   GraphEditor editor(graph);
//   for (const size_t index : editor.nodes())
//     if (const auto pad = match_node<Pad>(editor, index)) ...
//   editor.commit();
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "passes/rewrite/unique_names.hpp"

namespace vellum {

// A node keeps its index until commit(). Nodes that exist when editing begins are indexed in execution order.
// An inserted node gets the next free index, and a position in the execution order.
//
// Functions that insert a node or add a value invalidate references to nodes, types and constants.
class GraphEditor {
 public:
  class Nodes;

  explicit GraphEditor(Graph& graph);
  GraphEditor(const GraphEditor&) = delete;
  GraphEditor& operator=(const GraphEditor&) = delete;

  // Reading.
  const Graph& graph() const { return graph_; }
  // Iterates over the nodes in execution order. The graph may change during the iteration: removed nodes, and
  // nodes inserted before the current one, are not visited; nodes inserted after it are.
  Nodes nodes() const;
  // Iterates from the last node to the first, with the same rules.
  Nodes nodes_backwards() const;
  const Node& node(size_t index) const { return graph_.nodes[index]; }
  bool removed(size_t index) const { return removed_[index]; }
  const TensorType& type(ValueId value) const { return graph_.values[value].type; }
  const HostTensor* constant(ValueId value) const { return graph_.constant(value); }
  const HostTensor* constant_input(size_t index, size_t slot) const;
  bool is_graph_output(ValueId value) const { return is_output_[value]; }
  // Returns the node that computes `value`; nothing for graph inputs and constants.
  std::optional<size_t> producer(ValueId value) const;
  // Returns one entry for each read of `value`: a node that reads it twice is listed twice.
  const std::vector<size_t>& readers(ValueId value) const { return readers_[value]; }
  // Returns the only reader of `value`. Returns nothing if it has several reads or is a graph output.
  std::optional<size_t> only_reader(ValueId value) const;
  bool is_read(ValueId value) const { return is_output_[value] || !readers_[value].empty(); }

  // Inserting. If a name already exists, a number is appended to it.
  ValueId add_value(Value value);
  ValueId add_value(const std::string& name);  // of unknown type
  ValueId add_value(const std::string& name, TensorType type);
  ValueId add_constant(const std::string& name, HostTensor tensor);
  // Return the index of the new node. It may compute the outputs of another node if that node is removed
  // next.
  size_t insert_before(size_t index, Node node);
  size_t insert_after(size_t index, Node node);
  // Inserts a node that computes one new value of type `type`; both get the name. Returns the value.
  ValueId compute_before(size_t index, const std::string& name, std::shared_ptr<const Operator> op,
                         std::vector<ValueId> inputs, TensorType type);

  // Replacing. Replaces a node by one at the same position in the execution order.
  void replace(size_t index, Node node);
  void replace(size_t index, std::shared_ptr<const Operator> op, std::vector<ValueId> inputs);
  void set_operator(size_t index, std::shared_ptr<const Operator> op);
  void set_inputs(size_t index, std::vector<ValueId> inputs);
  // Changes the values that the node computes. Nodes that computed them before must be removed.
  void set_outputs(size_t index, std::vector<ValueId> outputs);
  // Makes every node that reads `from` read `to` instead.
  void replace_reads(ValueId from, ValueId to);

  // Removing.
  void remove(size_t index);
  // Removes a node whose first output equals its input `slot`. Returns false, and keeps the node, if it
  // connects a graph input with a graph output, or two graph outputs, because these must keep their names.
  bool bypass(size_t index, size_t slot = 0);

  // Ends the editing: stores the remaining nodes in execution order.
  void commit();

 private:
  static constexpr size_t kNoNode = SIZE_MAX;

  size_t next(size_t index) const;
  size_t previous(size_t index) const;
  size_t append(Node node);
  void link(size_t before, size_t inserted,
            size_t after);  // neighbours in the execution order; kNoNode: none
  void add_reads(size_t index);
  void forget_reads(size_t index);
  void forget_outputs(size_t index);

  Graph& graph_;
  UniqueNames names_;
  // By value.
  std::vector<size_t> producers_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_output_;
  // By node: the execution order as a linked list, which still contains removed nodes.
  std::vector<size_t> next_, previous_;
  std::vector<bool> removed_;
  size_t first_ = kNoNode, last_ = kNoNode;
  bool order_changed_ = false;  // nodes were inserted or removed
};

// A range of node indices in one direction of the execution order.
class GraphEditor::Nodes {
 public:
  class Iterator {
   public:
    Iterator(const GraphEditor* editor, bool backwards, size_t index)
        : editor_(editor), index_(index), backwards_(backwards) {}
    size_t operator*() const { return index_; }
    Iterator& operator++() {
      index_ = backwards_ ? editor_->previous(index_) : editor_->next(index_);
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const GraphEditor* editor_;
    size_t index_;
    bool backwards_;
  };

  Nodes(const GraphEditor& editor, bool backwards) : editor_(editor), backwards_(backwards) {}
  Iterator begin() const;
  Iterator end() const { return {&editor_, backwards_, kNoNode}; }

 private:
  const GraphEditor& editor_;
  bool backwards_;
};

}  // namespace vellum

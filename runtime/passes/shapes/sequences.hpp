// Sequences of tensors: followed while shapes are inferred, and gone afterwards.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Knows which tensors each sequence holds.
class SequenceTracker {
 public:
  enum class Found : uint8_t {
    tensor,   // the node computes tensors; it may have become another
    sequence  // the node computes a sequence; it stays until remove_nodes(), as a reader of the tensors
  };

  // Looks at the next node in execution order, whose inputs have their types or are sequences. Nodes that it
  // inserts after this one are visited next. Throws Error(unsupported) where only a run determines which
  // tensors a sequence holds.
  Found visit(GraphEditor& editor, size_t index);
  // Removes the nodes that compute sequences. Throws Error(unsupported) where a graph output is one.
  void remove_nodes(GraphEditor& editor) const;

 private:
  using Sequence = std::vector<ValueId>;

  const Sequence& read(const GraphEditor& editor, size_t index) const;
  Sequence split(GraphEditor& editor, size_t index) const;
  Found keep(const GraphEditor& editor, size_t index, Sequence sequence);

  std::unordered_map<ValueId, Sequence> sequences_;
  std::vector<size_t> nodes_;
  uint64_t tensors_ = 0;  // of all sequences
};

}  // namespace vellum

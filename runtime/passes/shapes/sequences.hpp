// Sequences of tensors: they are tracked while shapes are inferred, and removed afterwards.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Tracks which tensors each sequence holds.
class SequenceTracker {
 public:
  enum class Found : uint8_t {
    tensor,   // the node computes tensors; it may have been replaced
    sequence  // the node computes a sequence; it is kept until remove_nodes(), as a reader of the tensors
  };

  // Processes the next node in execution order; its inputs have known types or are sequences. Nodes that are
  // inserted after it are visited next. Throws Error(unsupported) if only a run determines the tensors of a
  // sequence.
  Found visit(GraphEditor& editor, size_t index);
  // Removes the nodes that compute sequences. Throws Error(unsupported) if a graph output is a sequence.
  void remove_nodes(GraphEditor& editor) const;

 private:
  using Sequence = std::vector<ValueId>;

  const Sequence& read(const GraphEditor& editor, size_t index) const;
  Sequence split(GraphEditor& editor, size_t index) const;
  Found keep(const GraphEditor& editor, size_t index, Sequence sequence);

  std::unordered_map<ValueId, Sequence> sequences_;
  std::vector<size_t> nodes_;
  uint64_t tensors_ = 0;  // number in all sequences
};

}  // namespace vellum

// Adapts models that were exported for a batch of 1, with Reshapes to constant shapes that begin with 1, to
// another batch.
#pragma once

#include <vector>

#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Adapts such Reshapes if a session requests another batch than the model's.
class BatchCarrier {
 public:
  // `shapes`, `values`: as requested by the session.
  BatchCarrier(const Graph& graph, const InputShapes& shapes, const InputTensors& values);

  // Gives a Reshape from (1, ...) to (1, ...) the batch as its first dimension. The types of its inputs must
  // be known. Does nothing for other nodes, or if the batch is 1.
  void carry(GraphEditor& editor, size_t index) const;

 private:
  bool begins_with_batch(const GraphEditor& editor, ValueId value) const;

  int64_t batch_ = 1;
  std::vector<Shape> single_;  // per value: the shape for a batch of 1
};

}  // namespace vellum

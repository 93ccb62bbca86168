// Models are often exported for a batch of 1, with Reshapes to constant shapes that begin with 1.
#pragma once

#include <vector>

#include "passes/passes.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Adapts such Reshapes where a session asks for another batch than the model states.
class BatchCarrier {
 public:
  // `shapes` and `values` are those that the session asks for.
  BatchCarrier(const Graph& graph, const InputShapes& shapes, const InputTensors& values);

  // A Reshape from (1, ...) to (1, ...) gets the batch as its first dimension. The types of its inputs must
  // be known. Does nothing to other nodes, or where the batch stays 1.
  void carry(GraphEditor& editor, size_t index) const;

 private:
  bool begins_with_batch(const GraphEditor& editor, ValueId value) const;

  int64_t batch_ = 1;
  std::vector<Shape> single_;  // by value: the shape with a batch of 1
};

}  // namespace vellum

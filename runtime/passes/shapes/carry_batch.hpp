// Models are often exported for a batch of one, with Reshapes to constant shapes that begin with 1.
#pragma once

#include <vector>

#include "passes/passes.hpp"

namespace vellum {

// Where a session has another batch than the model names: which values have the batch as their first
// dimension.
class BatchCarrier {
 public:
  // `shapes` are those that the session asks for. Does nothing where they leave the batch at 1.
  BatchCarrier(const Graph& graph, const InputShapes& shapes);

  // A Reshape from (1, ...) to (1, ...) takes the batch along. The types of the node's inputs must be known.
  void carry(const Graph& graph, Node& node) const;

 private:
  bool became_batch(const Graph& graph, ValueId id) const;

  int64_t batch_ = 1;
  std::vector<Shape> single_;  // by value, at a batch of one
};

}  // namespace vellum

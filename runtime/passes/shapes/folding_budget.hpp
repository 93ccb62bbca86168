// Limits the work on constants while a model is loaded (LoadLimits), because a small file can request any
// amount of work and memory.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

class FoldingBudget {
 public:
  // Continues from the amounts that earlier passes over the graph have spent.
  explicit FoldingBudget(Graph& graph);

  // Returns whether to compute a node with constant inputs now. Returns false if its results take too much
  // memory; the device then computes them. Throws Error(unsupported), which names the limit, if they take too
  // much work.
  bool allows(const Node& node, std::span<const OperatorInput> inputs, std::span<const TensorType> outputs);
  // Counts the work of a node that is left to the device, if it depends only on constants.
  void leave(const Node& node, std::span<const TensorType> outputs);
  // Counts the results of a node that was computed.
  void add_results(const Node& node);
  // Uncounts a constant that was computed in this pass and that nothing reads any more.
  void release(ValueId value);
  // Counts the work of a shape rule, because some shape rules compute the result (NonMaxSuppression). Throws
  // Error(unsupported) if it is too much. Call it before allows() and leave(), which do not count that work
  // again for the same node.
  void check_shape_rule(const Node& node);

 private:
  void spend(const Node& node, uint64_t work);
  // Spends work minus the work that check_shape_rule() counted.
  void spend_remaining(const Node& node, uint64_t work);
  bool is_constant(ValueId value) const;
  bool fits_memory(std::span<const OperatorInput> inputs, std::span<const TensorType> outputs) const;

  Graph& graph_;
  uint64_t most_work_ = 0, most_bytes_ = 0;
  uint64_t counted_ = 0;                            // work counted by the last check_shape_rule()
  std::unordered_map<ValueId, uint64_t> computed_;  // bytes by constant
  std::unordered_set<ValueId> left_;                // constants that the device computes
};

}  // namespace vellum

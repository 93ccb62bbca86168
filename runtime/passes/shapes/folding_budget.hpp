// Limits the work on constants while a model is loaded (LoadLimits): a small file can ask for any amount of
// work and memory.
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
  // Counts what earlier passes over the graph spent.
  explicit FoldingBudget(Graph& graph);

  // Whether to compute the results of the node, whose inputs are constant, now. False leaves it to the
  // device, because they take too much memory. Throws Error(unsupported) that names the limit if they take
  // too much work.
  bool allows(const Node& node, std::span<const OperatorInput> inputs, std::span<const TensorType> outputs);
  // Counts the work of a node that is left to the device, if it depends on nothing but constants.
  void leave(const Node& node, std::span<const TensorType> outputs);
  // Adds the results of a node that was computed.
  void add_results(const Node& node);
  // Frees a constant that was computed in this pass, because nobody reads it any more.
  void release(ValueId value);
  // The shape rules of some operators compute the result (NonMaxSuppression). Throws Error(unsupported) if it
  // takes too much work. What it counts, allows() and leave() do not count again for the same node; call it
  // before them.
  void check_shape_rule(const Node& node);

 private:
  void spend(const Node& node, uint64_t work);
  // Without the work that check_shape_rule() counted.
  void spend_rest(const Node& node, uint64_t work);
  bool is_constant(ValueId value) const;
  bool fits_memory(std::span<const OperatorInput> inputs, std::span<const TensorType> outputs) const;

  Graph& graph_;
  uint64_t most_work_ = 0, most_bytes_ = 0;
  uint64_t counted_ = 0;                            // by the last check_shape_rule()
  std::unordered_map<ValueId, uint64_t> computed_;  // bytes by constant
  std::unordered_set<ValueId> left_;                // constants that the device computes
};

}  // namespace vellum

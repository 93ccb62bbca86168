// Fuses rotary position embeddings whose cosines and sines are computed in each run, from the positions of
// tokens.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "passes/patterns/rotated_pairs.hpp"
#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Replaces x * cos + concat(-second half of x, first half of x) * sin, and the pairs of rotated_pairs.hpp, by
// RotateChannels, where cos and sin vary along tokens and channels. All rotations with the same cos and sin
// share one table.
class ComputedRotations {
 public:
  explicit ComputedRotations(GraphEditor& editor) : editor_(editor) {}

  // Returns whether node `index` is such a sum or Concat. Call it in execution order.
  bool replace(size_t index);

 private:
  // Return the table of RotateChannels, whose nodes are inserted before node `index`.
  ValueId table_of(size_t index, ValueId cosines, ValueId sines);
  ValueId table_of_pairs(size_t index, const RotatedPairs& rotated, int64_t channels);

  bool rotate_pairs(size_t index);
  // Insert a node before node `index`, and return what it computes.
  ValueId computed(size_t index, const char* part, std::shared_ptr<const Operator> op,
                   std::vector<ValueId> inputs, const TensorType& type);
  ValueId in_shape(size_t index, ValueId value, const Shape& shape);
  ValueId joined(size_t index, const char* part, const std::vector<ValueId>& parts, size_t axis);

  GraphEditor& editor_;
  // By cosines, sines, their shape and the channels of a head.
  std::map<std::tuple<ValueId, ValueId, Shape, int64_t>, ValueId> tables_;
};

}  // namespace vellum

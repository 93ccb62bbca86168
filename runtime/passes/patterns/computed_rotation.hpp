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

// Replaces x * cos + rotated x * sin, and the pairs of rotated_pairs.hpp, by RotateChannels, where cos and
// sin vary along tokens and channels. The rotated x is concat(-second half of x, first half of x), or
// (-x1, x0, -x3, x2, ...), as GPT-J and CodeGen rotate. A Concat may follow that adds the channels of a head
// that stay. All rotations with the same cos and sin share one table.
class ComputedRotations {
 public:
  explicit ComputedRotations(GraphEditor& editor) : editor_(editor) {}

  // Returns whether node `index` is such a sum or Concat. Call it in execution order.
  bool replace(size_t index);

 private:
  // Return the table of RotateChannels, whose nodes are inserted before node `index`.
  ValueId table_of_sum(size_t index, ValueId cosines, ValueId sines, bool interleaved, int64_t channels);
  ValueId table_of_pairs(size_t index, const RotatedPairs& rotated, int64_t channels);

  // `own`, `other`: the cosines and sines of the first channels, in parts. The others stay.
  ValueId table_of_parts(size_t index, std::vector<ValueId> own, std::vector<ValueId> other,
                         int64_t channels);

  bool rotate_pairs(size_t index);
  bool rotate_sum(size_t index);
  // Insert a node before node `index`, and return what it computes.
  ValueId computed(size_t index, const char* part, std::shared_ptr<const Operator> op,
                   std::vector<ValueId> inputs, const TensorType& type);
  ValueId in_shape(size_t index, ValueId value, const Shape& shape);
  ValueId joined(size_t index, const char* part, const std::vector<ValueId>& parts, size_t axis);

  GraphEditor& editor_;
  // By cosines, sines, their shape, the channels of a head, and whether neighbours are pairs.
  std::map<std::tuple<ValueId, ValueId, Shape, int64_t, bool>, ValueId> tables_;
};

}  // namespace vellum

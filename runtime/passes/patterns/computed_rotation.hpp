// Fuses rotary position embeddings whose cosines and sines are computed in each run, from the positions of
// tokens.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "passes/rewrite/graph_editor.hpp"

namespace vellum {

// Replaces x * cos + concat(-second half of x, first half of x) * sin by RotateChannels, where cos and sin
// vary along tokens and channels. All rotations with the same cos and sin share one table.
class ComputedRotations {
 public:
  explicit ComputedRotations(GraphEditor& editor) : editor_(editor) {}

  // Returns whether node `index` is such a sum. Call it in execution order.
  bool replace(size_t index);

 private:
  // Returns the table of RotateChannels, whose nodes are inserted before node `index`.
  ValueId table_of(size_t index, ValueId cosines, ValueId sines);

  GraphEditor& editor_;
  std::map<std::pair<ValueId, ValueId>, ValueId> tables_;
};

}  // namespace vellum

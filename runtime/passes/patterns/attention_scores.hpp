// Matches the scores of a decomposed attention and the softmax of them.
#pragma once

#include <optional>

#include "graph/operators/elementwise/activation.hpp"
#include "passes/patterns/score_masks.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {

// round(scale * Q K^T) + masks, matched backwards from the softmax.
struct AttentionScores {
  ValueId q = kNoValue, k_transposed = kNoValue;
  double scale = 1.0;
  std::optional<HostTensor> head_factors;  // (heads, 1, 1), what the scores of each head are multiplied by
  ScoreMasks masks;
  Activation rounding;  // none where the scores are not rounded
};

// Finds scale, mask, rounding and shapes between the product of Q and K and the softmax, whose input is
// `value`. Nothing if there are other operators. `shape`: that in which the softmax's output is multiplied by
// V.
std::optional<AttentionScores> match_scores(const GraphEditor& editor, ValueId value, const Shape& shape);

struct MatchedSoftmax {
  ValueId scores = kNoValue;
  Activation rounding;  // of its result; none where it is not rounded
};

// A softmax over the last dimension that is read once, and the rounding of its result. A Reshape behind it
// may split or merge other dimensions than the last two.
std::optional<MatchedSoftmax> match_softmax_of_rows(const GraphEditor& editor, ValueId value);

// The rounding that computes the value.
std::optional<Match<Unary>> match_rounding(const GraphEditor& editor, ValueId value);

}  // namespace vellum

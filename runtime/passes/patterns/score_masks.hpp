// Matches what a decomposed attention adds to its scores, and what it replaces them by.
#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite/match.hpp"

namespace vellum {

// The sum of a number up to this one and a score is the number, unless the score exceeds 1e22.
constexpr float kNegligibleBeside = -1e30f;

struct ScoreMasks {
  // A value of the scores' shape, but for leading ones. Floats are multiplied by `scale` and added. Booleans
  // select which scores become `least` times `scale`.
  struct Computed {
    ValueId value = kNoValue;
    float scale = 1.0f;
    float least = 0.0f;
    bool keeps = false;  // booleans: true keeps a score
  };
  std::vector<Computed> computed;
  std::vector<HostTensor> constants;  // each broadcasts to the scores

  bool is_empty() const { return computed.empty() && constants.empty(); }
};

// Matches value = scores + mask, and value = Where(condition, scores, least) or Where(condition, least,
// scores) whose `least` is so low that adding it to scores has the same result. Adds the mask to `masks` and
// returns the scores; nothing if the value is no such sum or choice. `scale`: by what the scores are
// multiplied after it. `shape`: that of the scores at the softmax.
std::optional<ValueId> match_masked_scores(const GraphEditor& editor, ValueId value, float scale,
                                           const Shape& shape, ScoreMasks& masks);

// Adds nodes before node `index` that compute the sum of all masks, which broadcasts to four dimensions.
// Returns kNoValue if there are no masks, and nothing if they cannot be added up as `dtype`.
std::optional<ValueId> add_masks(GraphEditor& editor, size_t index, const ScoreMasks& masks, DType dtype);

// Takes the only mask of floats that has an element for each head and key, but one for all queries, out of
// `masks` if the others have elements for several queries, but none for each head. Returns it as a key bias
// of Attention, (1, head, 1, key), computed before node `index`; kNoValue if there is none. `scores`: (batch,
// head, query, key).
ValueId take_key_bias(GraphEditor& editor, size_t index, ScoreMasks& masks, DType dtype, const Shape& scores);

Shape without_leading_ones(const Shape& shape);

}  // namespace vellum

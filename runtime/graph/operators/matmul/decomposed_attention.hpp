// Attention as two products with a softmax between them, for forms that the operator Attention does not have.
#pragma once

#include <cstdint>

#include "graph/composed.hpp"

namespace vellum {

//   scores  = scale * Q K^T
//   capped  = softcap * tanh(scores / softcap)           without a soft cap: scores
//   masked  = capped + mask
//   weights = softmax(masked, sink)
//
// A sink is one more score for each head of Q. Its weight belongs to no value.
struct DecomposedAttention {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue;  // (batch, head, token, channel)
  ValueId mask = kNoValue;                           // optional; broadcasts to the scores
  ValueId sink = kNoValue;                           // optional; one element for each head of Q
  double scale = 0.0;                                // 0: 1 / sqrt(channels)
  float softcap = 0.0f;                              // 0: none

  // All after build(): (batch, head, token of Q, token of K); `result` is (batch, head, token of Q, channel).
  ValueId scores = kNoValue, capped = kNoValue, masked = kNoValue, weights = kNoValue, result = kNoValue;

  void build(Body& body);

 private:
  ValueId softmax(Body& body) const;
};

}  // namespace vellum

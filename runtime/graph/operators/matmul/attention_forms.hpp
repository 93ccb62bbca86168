// Attention with a cache of keys and values, a window, a soft cap, or its scores as an output.
#pragma once

#include <memory>
#include <optional>

#include "graph/operator.hpp"

namespace vellum {

struct AttentionForm {
  std::optional<float> scale;
  bool causal = false;
  int64_t q_heads = 0, kv_heads = 0;
  float softcap = 0.0f;                         // 0: none
  int64_t left_window = -1, right_window = -1;  // keys before and after the query's position; -1: all
  int64_t scores_mode = 0;                      // the scores in the fourth output: qk_matmul_output_mode
  bool gives_scores = false;                    // whether the fourth output is read
  // The caches keep their length. Input 6 is then the number of tokens in them before the run, of shape (1)
  // or (batch), and the new ones are written behind these.
  bool fixed_capacity = false;
};

// Decomposes the operator: concatenates keys and values with the cache, and combines the mask with the window
// and the sequence lengths. The rest is a plain Attention, or with scores as an output two products with a softmax
// between them.
std::shared_ptr<const Operator> make_attention_form(const NodeSpec& spec, const AttentionForm& form);

}  // namespace vellum

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
  int64_t left_window = -1, right_window = -1;  // keys beside the query's own place; -1: all
  int64_t scores_mode = 0;                      // of the fourth output
  bool gives_scores = false;                    // whether that is read
};

// Keys and values are joined with those before, masks with the window and the lengths of the sequences; then
// it is a plain Attention, or with a soft cap or scores a softmax between two products.
std::shared_ptr<const Operator> make_attention_form(const NodeSpec& spec, const AttentionForm& form);

}  // namespace vellum

// Helpers for the files that make operators of com.microsoft (contrib.hpp).
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "graph/operator.hpp"

namespace vellum {

struct ContribRow {
  std::string_view type;
  MakeOperator maker;
};

// Attention and rotary embeddings (contrib_attention.cpp).
std::span<const ContribRow> attention_contrib_operators();
std::shared_ptr<const Operator> make_group_query_attention(const NodeSpec& spec);
std::shared_ptr<const Operator> make_experts(const NodeSpec& spec);
std::shared_ptr<const Operator> make_packed_experts(const NodeSpec& spec);
// The operators on integers (contrib_quantised.cpp).
std::span<const ContribRow> quantised_contrib_operators();

// Makes the standard operator `type` with the first `inputs` inputs of `spec` and its attributes, except the
// attributes in `without`.
std::shared_ptr<const Operator> standard_operator(const NodeSpec& spec, std::string_view type, size_t inputs,
                                                  std::initializer_list<std::string_view> without);

}  // namespace vellum

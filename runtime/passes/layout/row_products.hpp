// Products of rows with a constant matrix, which become Gemm.
#pragma once

#include <cstddef>
#include <optional>

#include "passes/rewrite/match.hpp"

namespace vellum {

// A MatMul of rows with one constant matrix, and the nodes after it that can be part of a Gemm.
struct RowProduct {
  size_t matmul = 0;
  std::optional<size_t> sum;       // adds the bias
  std::optional<HostTensor> bias;  // one element per column
  Activation activation;
  size_t last = 0;  // computes the result
};

// Returns whether the node is a MatMul of computed rows, two or more dimensions of floats, with a constant
// matrix.
bool multiplies_rows(const GraphEditor& editor, size_t index);

// Matches such a MatMul and the nodes after it.
RowProduct match_row_product(const GraphEditor& editor, size_t index);

}  // namespace vellum

// Matrix products in the form that kernels use.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "kernels/conv/weights.hpp"
#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = activation(alpha * A B + beta * C), for each matrix of a batch.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  Shape batch;                            // batch dimensions of y
  std::vector<int64_t> a_batch, b_batch;  // strides along `batch`, in elements; 0 if broadcast
  // Strides in elements: from row to row, from column to column.
  int64_t a_strides[2] = {0, 1}, b_strides[2] = {0, 1}, c_strides[2] = {0, 0};
  float alpha = 1.0f, beta = 0.0f;
  bool has_c = false;
  Activation activation;
  // Not empty: A and B are stored in bytes with these steps, their integers are multiplied, and the
  // activation rounds to the result's step.
  FixedPair fixed_point = {};
};

// Emits the product of inputs 0 and 1 plus input 2. The inputs are read as linear tensors and may be computed
// at run time.
void lower_linear_product(Lowering& lowering, Product product);

// Emits the product of one constant matrix A and a computed matrix B in channels4, plus input 2. Returns
// false, and emits nothing, if it has no kernel.
bool lower_left_product(Lowering& lowering, Product product);

// Emits the product of the node that is being lowered, which is `gemm` or, with a table of its results,
// FusedNodes (kernels/conv/result_table.hpp).
void lower_product(Lowering& lowering, const Gemm& gemm);

// In the next functions `gemm` is the operator of inputs 0 to 3 of the node that is being lowered; B is
// constant, and C is omitted or constant and the same in all rows.
//
// Chooses the type of `weights` and returns their values, B and C.
WeightValues gemm_values(Lowering& lowering, const Gemm& gemm, ConvWeights& weights);
// Emits the product into `y`, a tensor in channels4.
void lower_gemm_into(Lowering& lowering, const Gemm& gemm, TensorId y);

}  // namespace vellum

// Matrix products in the form that kernels use.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

// y = activation(alpha * A B + beta * C), for each matrix of a batch.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  Shape batch;                            // of y
  std::vector<int64_t> a_batch, b_batch;  // strides along `batch`, in elements; 0 where repeated
  int64_t a_strides[2] = {0, 1}, b_strides[2] = {0, 1}, c_strides[2] = {0, 0};  // of a row, of a column
  float alpha = 1.0f, beta = 0.0f;
  bool has_c = false;
  Activation activation;
};

// Multiplies inputs 0 and 1 and adds input 2; any may be known only at run time, all are linear.
void lower_linear_product(Lowering& lowering, Product product);

}  // namespace vellum

// A model of the loop over a block of products of cooperative matrices of bytes (cooperative_block.glsl).
#pragma once

#include <cstdint>

#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "vellum/device_rates.hpp"

namespace vellum {

// A workgroup computes a block of the result: its side x side subgroups have matrices x matrices matrices of
// m x n each, and with split-K there are `parts` times as many subgroups.
struct MatrixBlock {
  int64_t m = 16, n = 16, k = 16;
  int64_t matrices = 1, side = 2, parts = 1;

  int64_t rows() const { return side * matrices * m; }
  int64_t columns() const { return side * matrices * n; }
};

// The work of a dispatch: each of its blocks takes `steps` steps, in each of which a workgroup moves `step`
// bytes of each row and column through shared memory. `lanes`: the size of its subgroups.
struct MatrixWork {
  double blocks = 1, steps = 1;
  int64_t step = 64;
  uint32_t lanes = 32;
};

// Returns the share of the peak rate of multiply-adds of floats that the loop can reach; it may exceed 1.
double byte_matrix_efficiency(const DeviceTraits& traits, const MatrixBlock& block);

// Returns the loads of an invocation that wait for one another.
double byte_matrix_waits(const MatrixBlock& block, double steps);

// Predicts the microseconds of a dispatch, with the barrier before it.
double byte_matrices_us(const DeviceRates& rates, const DeviceTraits& traits, const MatrixBlock& block,
                        const MatrixWork& work);

}  // namespace vellum

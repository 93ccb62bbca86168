// Sums of products of integers in tiles.
#pragma once

#include "kernels/framework/contract.hpp"

namespace vellum {

// Computes contract() of integers by tiles of y, where the loops have rows and columns for them; returns
// false, and does nothing, for others. An invocation sums few enough products at a time for lavapipe, which
// ends loops after 65,535 iterations: longer sums take several dispatches.
bool contract_by_tiles(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c);

}  // namespace vellum

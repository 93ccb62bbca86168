// Tiled sums of products of integers.
#pragma once

#include "kernels/framework/contract.hpp"

namespace vellum {

// Does the same as contract() for integers in tiles of y. Returns false, and does nothing, if the loops do
// not form rows and columns. lavapipe ends the loops of an invocation after 65,535 iterations, so longer sums
// are split into several dispatches.
bool contract_by_tiles(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c);

}  // namespace vellum

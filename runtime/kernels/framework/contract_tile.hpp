// Tensor contractions of integers in tiles.
#pragma once

#include "kernels/framework/contract.hpp"

namespace vellum {

// Computes contract() for tensors of integers; each invocation computes a tile of y. Returns false, and does
// nothing, if the loops do not form rows and columns. Long sums are split into several dispatches, because
// lavapipe ends the loops of an invocation after 65,535 iterations.
bool contract_by_tiles(Lowering& lowering, TensorId a, TensorId b, TensorId y, const Contraction& c);

}  // namespace vellum

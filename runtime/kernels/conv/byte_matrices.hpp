// Convolutions and products of tensors in bytes by cooperative matrices of signed bytes
// (conv_bytes_cooperative.comp).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/byte_weights.hpp"
#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/conv/matrix_problem.hpp"

namespace vellum {

// Returns whether the device has matrices of bytes that kernels use.
bool has_byte_matrices(const DeviceCaps& caps);

// Returns whether they can multiply the result of in_steps(), which may be null, of a layer without groups,
// without a scale of its input, and with constant weights. `products`: the products of a sum. False if the
// device has none.
bool can_multiply_matrices(const Lowering& lowering, const ByteWeightsPointer& bytes, int64_t products);

// Returns such weights in the form that these kernels read.
ByteWeightsPointer for_byte_matrices(const ByteWeightsPointer& bytes);

// Returns the tiles that the device can run, with their predicted costs; none if the problem suits none.
// `us_cost`: as in matrix_tiles().
std::vector<ParameterCandidate<CooperativeTile>> byte_matrix_tiles(const DeviceCaps& caps,
                                                                   const MatrixProblem& problem,
                                                                   double us_cost);

}  // namespace vellum

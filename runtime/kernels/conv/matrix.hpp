// Convolutions without groups as products of two matrices in blocks: by cooperative matrices
// (conv_cooperative.comp, conv_bytes_cooperative.comp), and with operands in shared memory (conv_block.comp).
#pragma once

#include <variant>
#include <vector>

#include "kernels/conv/block_tile.hpp"
#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/problem.hpp"

namespace vellum {

using MatrixTile = std::variant<CooperativeTile, BlockTile>;

// Returns whether the kernel reads weights in bytes. Cooperative matrices of halves do not.
bool reads_bytes(const MatrixTile& tile);
// Returns whether it multiplies bytes of its input, by cooperative matrices (byte_matrices.hpp).
bool multiplies_bytes(const MatrixTile& tile);

// Returns the tiles for the device and the problem, with their predicted costs relative to other kernels.
// `us_cost`: the cost of a predicted microsecond among these (cost_of_microsecond()); 0: unknown.
std::vector<ParameterCandidate<MatrixTile>> matrix_tiles(const DeviceCaps& caps, const MatrixProblem& problem,
                                                         double us_cost);

// Returns the candidates for windows of several pixels without groups. pointwise.hpp has the candidates for
// windows of one pixel.
std::vector<KernelCandidate> matrix_candidates(const ConvProblem& problem, const DeviceCaps& caps,
                                               double us_cost);

// y = activation(conv(x) + bias + residual) in channels4. `weights` is without groups.
void dispatch_matrix(Lowering& lowering, TensorId x, TensorId y, const ConvWeights& weights,
                     const MatrixTile& tile, const Window2d& window, const Activation& activation,
                     WeightValues values, const ConvExtras& extras);

}  // namespace vellum

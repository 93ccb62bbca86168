// Tiles of cooperative matrices (caps/cooperative_matrix.hpp) for convolutions without groups and matrix
// products: cooperative_block.glsl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "kernels/conv/matrix_problem.hpp"
#include "kernels/framework/candidate.hpp"
#include "program/program.hpp"

namespace vellum {

// A workgroup computes one block of the output. The block has `side` x `side` subgroups, and each subgroup
// computes `matrices` x `matrices` matrices. With split-K the workgroup has `parts` times as many subgroups:
// each group of side x side sums a share of the input channels, and the workgroup reduces the partial sums.
struct CooperativeTile {
  CooperativeMatrix matrix;                   // its factors are halves or bytes
  int64_t matrices = 1, side = 2, parts = 1;  // parts: split-K factor; 1: no split

  bool multiplies_bytes() const { return vellum::multiplies_bytes(matrix); }
  int64_t subgroups() const { return side * side * parts; }
  // Pixels and channels of a block.
  int64_t pixels() const { return side * matrices * matrix.m; }
  int64_t channels() const { return side * matrices * matrix.n; }
  int64_t blocks(int64_t rows, int64_t columns) const;  // blocks for `rows` pixels and `columns` channels
  int64_t step() const;                                 // input channels in shared memory at a time
  int64_t shared_memory_bytes() const;                  // that the shader declares
  KernelName name() const;
};

inline constexpr const char* kCooperativeAlgorithm = "cooperative";
inline constexpr const char* kByteMatrixAlgorithm = "cooperative bytes";

// Returns the matrix of these factors that tiles have: 16 x 16, with 16 halves or 32 bytes a row, if the
// device has it. Returns nothing if the kernels can use none.
std::optional<CooperativeMatrix> matrix_for_tiles(const DeviceCaps& caps, MatrixFactors factors);
// Returns whether a workgroup of the device can compute the tile.
bool fits(const CooperativeTile& tile, const DeviceCaps& caps);

// Returns the tiles of halves that the device can run, with their predicted costs (tile.hpp). Returns none if
// cooperative matrices do not suit the device or the problem.
std::vector<ParameterCandidate<CooperativeTile>> cooperative_tiles(const DeviceCaps& caps,
                                                                   const MatrixProblem& problem);

// Sets the dispatch's workgroup size and count, one workgroup for each of `blocks`, and the tile's macros.
void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t blocks);

}  // namespace vellum

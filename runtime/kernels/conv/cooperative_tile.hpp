// Tiles of cooperative matrices (caps/cooperative_matrix.hpp) for convolutions without groups and matrix
// products: cooperative_block.glsl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "kernels/conv/matrix_problem.hpp"
#include "kernels/framework/candidate.hpp"
#include "program/program.hpp"

namespace vellum {

// A block has `side` x `side` subgroups, and each of them `matrices` x `matrices` matrices of the output. A
// workgroup has `parts` times as many subgroups, which share the block's sums.
struct CooperativeTile {
  CooperativeMatrix matrix;
  int64_t matrices = 1, side = 2, parts = 1;

  int64_t subgroups() const { return side * side * parts; }
  int64_t pixels() const { return side * matrices * matrix.m; }
  int64_t channels() const { return side * matrices * matrix.n; }
  int64_t blocks(int64_t rows, int64_t columns) const;  // tiles that cover this many pixels, channels
  int64_t step() const;                                 // input channels in shared memory at a time
  int64_t shared_memory_bytes() const;                  // as the shader has it
};

inline constexpr const char* kCooperativeAlgorithm = "cooperative";

// Returns the tiles that the device can run, with their predicted costs (tile.hpp). None if they do not suit
// the device or the problem.
std::vector<ParameterCandidate<CooperativeTile>> cooperative_tiles(const DeviceCaps& caps,
                                                                   const MatrixProblem& problem);

// Sets the dispatch's workgroup count, one for each of `blocks`, and the macros of the tile.
void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t blocks);

}  // namespace vellum

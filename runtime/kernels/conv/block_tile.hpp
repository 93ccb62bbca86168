// Tiles of conv_block.comp: blocks of a convolution without groups, or of a matrix product, whose operands
// are in shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "caps/device_caps.hpp"
#include "kernels/conv/matrix_problem.hpp"
#include "kernels/framework/candidate.hpp"
#include "program/program.hpp"

namespace vellum {

// An invocation computes kPixels pixels of kSlices slices, and kSide x kSide invocations cover a block. A
// workgroup computes one block. With split-K it has `parts` times as many invocations: each group of kSide x
// kSide sums a share of the input channels, and the workgroup reduces the partial sums.
struct BlockTile {
  int64_t parts = 1;  // split-K factor; 1: no split

  static constexpr int64_t kPixels = 4, kSlices = 2, kSide = 8;
  static constexpr int64_t kBlockPixels = kSide * kPixels, kBlockSlices = kSide * kSlices;
  int64_t invocations() const { return kSide * kSide * parts; }
  int64_t step() const { return 8 * parts; }            // input channels in shared memory at a time
  int64_t shared_memory_bytes() const;                  // that the shader declares
  int64_t blocks(int64_t rows, int64_t columns) const;  // blocks for `rows` pixels and `columns` channels
};

// Returns the tiles that suit the device and the problem. `us_cost`: the cost of a predicted microsecond
// among the other kernels (cost_of_microsecond()); 0: unknown, and blocks are not preferred.
std::vector<ParameterCandidate<BlockTile>> block_tiles(const DeviceCaps& caps, const MatrixProblem& problem,
                                                       double us_cost);

// Sets the dispatch's workgroup size and count, one workgroup for each of `blocks`, and the tile's macros.
void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const BlockTile& tile, int64_t blocks);

}  // namespace vellum

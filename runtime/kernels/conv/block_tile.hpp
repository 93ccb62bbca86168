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

// An invocation computes kPixels pixels of kSlices slices; kSide x kSide invocations cover a block, and a
// workgroup has `parts` times as many, which share its sums.
struct BlockTile {
  int64_t parts = 1;

  static constexpr int64_t kPixels = 4, kSlices = 2, kSide = 8;
  static constexpr int64_t kBlockPixels = kSide * kPixels, kBlockSlices = kSide * kSlices;
  int64_t invocations() const { return kSide * kSide * parts; }
  int64_t step() const { return 8 * parts; }            // input channels in shared memory at a time
  int64_t shared_memory_bytes() const;                  // as the shader has it
  int64_t blocks(int64_t rows, int64_t columns) const;  // that cover this many pixels, channels
};

// Returns the tiles that suit the device and the problem. `quickest_us` is the predicted time of the quickest
// other kernel, with which their costs are compared.
std::vector<ParameterCandidate<BlockTile>> block_tiles(const DeviceCaps& caps, const MatrixProblem& problem,
                                                       double quickest_us);

// Sets the dispatch's workgroups, one for each of `blocks`, and the macros of the tile.
void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const BlockTile& tile, int64_t blocks);

}  // namespace vellum

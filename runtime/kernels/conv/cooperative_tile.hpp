// Tiles of cooperative matrices (caps/cooperative_matrix.hpp) for convolutions without groups and matrix
// products: cooperative_block.glsl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "kernels/framework/candidate.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"

namespace vellum {

// A workgroup has 2 x 2 subgroups, and each of them `matrices` x `matrices` matrices of the output.
struct CooperativeTile {
  CooperativeMatrix matrix;
  int64_t matrices = 1;

  static constexpr int64_t kSubgroups = 2;  // along either side
  int64_t pixels() const { return kSubgroups * matrices * matrix.m; }
  int64_t channels() const { return kSubgroups * matrices * matrix.n; }
  int64_t blocks(int64_t rows, int64_t columns) const;  // tiles that cover this many pixels, channels
  int64_t step() const;                                 // input channels in shared memory at a time
  int64_t shared_memory_bytes() const;                  // as the shader has it
};

inline constexpr const char* kCooperativeAlgorithm = "cooperative";

// `products` matrix products, pixels x inputs by inputs x outputs. In a convolution each output sums `taps`
// times as many inputs.
struct CooperativeProblem {
  int64_t pixels = 1, inputs = 1, outputs = 1, taps = 1, products = 1;
  Precision precision = Precision::fp32;
  int64_t row_pixels = 0;  // TileDemand
};

// Returns the tiles that the device can run, with their predicted costs (tile.hpp). None if they do not suit
// the device or the problem.
std::vector<ParameterCandidate<CooperativeTile>> cooperative_tiles(const DeviceCaps& caps,
                                                                   const CooperativeProblem& problem);

// Sets the dispatch's workgroup count, one for each of `blocks`, and the macros of the tile.
void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t blocks);

}  // namespace vellum

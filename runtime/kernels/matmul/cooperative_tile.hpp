// How products of cooperative matrices (caps/cooperative_matrix.hpp) cover the output of a convolution
// without groups, or of matrix products: shaders/cooperative_block.glsl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "caps/device_caps.hpp"
#include "program/program.hpp"

namespace vellum {

// A workgroup has 2 x 2 subgroups, and each of them `matrices` x `matrices` matrices of the output.
struct CooperativeTile {
  CooperativeMatrix matrix;
  int64_t matrices = 1;

  static constexpr int64_t kSubgroups = 2;  // along either side
  int64_t pixels() const { return kSubgroups * matrices * matrix.m; }
  int64_t channels() const { return kSubgroups * matrices * matrix.n; }
  int64_t blocks(int64_t rows, int64_t columns) const;  // of as many pixels, channels
  int64_t step() const;                                 // input channels in shared memory at a time
  int64_t shared_memory_bytes() const;                  // as the shader has it
  std::string name() const;                             // for Lowering::choose()
};

// Those that the device can run, for `pixels` x `outputs` results in each of `products`; that first which
// should be the quickest. None where the device or the operator is not made for it.
std::vector<CooperativeTile> cooperative_tiles(const DeviceCaps& caps, int64_t pixels, int64_t inputs,
                                               int64_t outputs, int64_t products = 1);

// Whether these should be quicker than other kernels, as they are where enough is summed up for each output
// channel. (How many of these there are has no say, so that parts of a layer that is split are computed as
// the whole would be.)
bool prefers_cooperative(int64_t pixels, int64_t inputs);

// A workgroup of the dispatch for each of `blocks`, which multiplies such matrices.
void cover_with(Dispatch& dispatch, const DeviceCaps& caps, const CooperativeTile& tile, int64_t blocks);

}  // namespace vellum

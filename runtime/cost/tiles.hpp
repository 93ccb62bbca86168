// Tiles of convolutions and matrix products: the output that one invocation computes, and how many
// invocations share each sum.
#pragma once

#include <cstdint>
#include <vector>

#include "caps/device_caps.hpp"

namespace vellum {

// The output of one invocation of a convolution or matrix product: pixels x slices texels, where a slice is
// four channels.
struct OutputTile {
  int64_t pixels = 1, slices = 1;
  bool operator==(const OutputTile&) const = default;
};

// Kernels whose predicted times differ by at most this factor count as equally quick: the model is not more
// accurate than that.
inline constexpr double kEquallyFast = 1.05;

// A tile whose sums `split_k` invocations of a workgroup share.
struct SplitTile {
  OutputTile tile;
  int64_t split_k = 1;
  double us = 0;  // predicted time; 0: there is no model of it
};

// The row of a window as an invocation loads it: the columns of one slice of x that its pixels need for
// `taps` adjacent taps. `operations`: instructions for each loaded value, such as to select zeros in the
// padding or to multiply with a scale.
struct WindowRow {
  int64_t taps = 1, stride = 1, operations = 0;
};

// The output that tiles cover: `lines` lines of `length` pixels of `slices` slices each, computed with `macs`
// multiply-accumulates in total.
struct TileDemand {
  int64_t length = 1, lines = 1, slices = 1, macs = 0;
  WindowRow row = {};
  bool loads_ahead = false;  // several slices of x are loaded together (slices_ahead(), cost/registers.hpp)
  bool halves = false;       // tensors are stored in fp16
  int64_t row_pixels = 0;    // pixels of the input that are contiguous in memory; 0: unknown
  bool multiplies_dots = false;  // tile_code()
  // Returns whether the pixels of each tile are contiguous in memory. With a single row the last tile may
  // begin earlier.
  bool are_contiguous(int64_t pixels) const {
    const bool one_row = lines == 1 && row_pixels == length && length >= pixels;
    return row_pixels > 0 && (row_pixels % pixels == 0 || one_row);
  }
};

// Returns the tile that is predicted to be quickest without split-K.
OutputTile preferred_tile(const DeviceCaps& caps, const TileDemand& demand);

// Returns the smallest tile that is worth measuring. `preferred`: the result of preferred_tile().
OutputTile smallest_tile(const DeviceCaps& caps, const OutputTile& preferred, const TileDemand& demand);

// Returns the tile that is predicted to be quickest if up to `most_split` invocations may share each sum
// (split-K); its split_k is 1 if a split gains nothing. After it come the tiles that take at most
// kEquallyFast times as long with about as few instructions.
std::vector<SplitTile> quick_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);

}  // namespace vellum

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

// Kernels that are predicted to take this much longer at most count as equally quick: no model is better.
inline constexpr double kAsQuick = 1.05;

// A tile whose sums `split_k` invocations of a workgroup share.
struct SplitTile {
  OutputTile tile;
  int64_t split_k = 1;
  double us = 0;  // predicted time; 0: there is no model of it
};

// The values of one slice of x that an invocation loads before it multiplies: the columns of its pixels for
// `taps` taps side by side. `operations`: on each value that it loads, as to select zeros in the padding or
// to multiply with a scale.
struct WindowRow {
  int64_t taps = 1, stride = 1, operations = 0;
};

// The output that tiles cover: `lines` lines of `length` pixels of `slices` slices each, computed with `macs`
// multiply-accumulates in total.
struct TileDemand {
  int64_t length = 1, lines = 1, slices = 1, macs = 0;
  WindowRow row = {};
  bool loads_ahead = false;  // of several slices: slices_ahead() of cost/registers.hpp
  bool halves = false;       // its values are stored as halves
  int64_t row_pixels = 0;    // pixels of the input that follow one another in memory; 0: not known

  // Whether the pixels of a tile are contiguous, if the last tile of a row may begin earlier where there is
  // one row.
  bool are_contiguous(int64_t pixels) const {
    const bool one_row = lines == 1 && row_pixels == length && length >= pixels;
    return row_pixels > 0 && (row_pixels % pixels == 0 || one_row);
  }
};

// Returns the tile that should be quickest, where an invocation computes whole sums.
OutputTile preferred_tile(const DeviceCaps& caps, const TileDemand& demand);

// Returns the smallest tile that is worth measuring where `preferred` is preferred_tile().
OutputTile smallest_tile(const DeviceCaps& caps, const OutputTile& preferred, const TileDemand& demand);

// Returns the quickest tile if up to `most_split` invocations may share each sum (split-K), where split_k is
// 1 if whole sums are as quick; after it those that should take kAsQuick times as long at most, with about as
// few instructions.
std::vector<SplitTile> quick_tiles(const DeviceCaps& caps, const TileDemand& demand, int64_t most_split);

}  // namespace vellum

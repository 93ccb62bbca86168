// Kernels for several layers on GPUs: tiles with which they take less time than kernels for each layer, by
// predicted time.
#pragma once

#include <cstdint>
#include <vector>

#include "caps/device_caps.hpp"
#include "cost/tiles.hpp"

namespace vellum {

// A depthwise separable convolution: `inputs` slices of channels, filtered by a square window and multiplied
// to `outputs` slices of `images` of width x height pixels.
struct SeparableDemand {
  int64_t width = 1, height = 1, images = 1;
  int64_t inputs = 1, outputs = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
  int64_t texel_bytes = 16;  // of a stored texel of the tensors
};

// A workgroup of conv_separable.comp computes `slices` slices of width x height pixels, of which an
// invocation computes `tile`. It filters all input slices of these pixels into shared memory first.
struct SeparableTile {
  int64_t width = 8, height = 4;
  OutputTile tile = {4, 1};  // pixels one after the other, row by row
  int64_t slices = 1;        // a multiple of those of `tile`
  int64_t split_k = 1;       // invocations for each sum
  int64_t ahead = 1;         // input slices whose weights are loaded together

  int64_t pixels() const { return width * height; }
  int64_t invocations() const { return pixels() / tile.pixels * (slices / tile.slices) * split_k; }
  // Shared memory: the filtered pixels, and then in the same place the partial sums.
  int64_t shared_bytes(const SeparableDemand& demand) const;
  bool operator==(const SeparableTile&) const = default;
};

// A 1x1 convolution of `inputs` slices and a depthwise convolution of the `slices` slices that it computes:
// from images of x_width x x_height pixels to `images` of width x height pixels.
struct ExpandDemand {
  int64_t width = 1, height = 1, images = 1;
  int64_t x_width = 1, x_height = 1;
  int64_t inputs = 1, slices = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
  int64_t texel_bytes = 16;  // of a stored texel of the tensors
  int64_t gates = 0;         // products for squeeze-and-excitation of the result
};

// A workgroup of conv_expand.comp computes width x height pixels of `tile.slices` slices: first all pixels
// that their windows cover, `tile.pixels` of them in an invocation at a time, in shared memory.
struct ExpandTile {
  int64_t width = 8, height = 8;
  OutputTile tile = {4, 1};
  int64_t invocations = 64;
  int64_t ahead = 1;  // input slices that are loaded together

  // Pixels that the windows of a tile cover at most.
  int64_t covered(const ExpandDemand& demand) const;
  // Pixels that shared memory has room for, and its bytes.
  int64_t capacity(const ExpandDemand& demand) const;
  int64_t shared_bytes(const ExpandDemand& demand) const;
  bool operator==(const ExpandTile&) const = default;
};

// Returns the tiles with which both layers of a depthwise separable convolution should take less time in one
// kernel than in two, the quickest first; empty: none.
std::vector<SeparableTile> separable_tiles(const DeviceCaps& caps, const SeparableDemand& demand);
// Returns the tiles with which a 1x1 convolution and the depthwise convolution after it should take less time
// in one kernel than in two, the quickest first; empty: none.
std::vector<ExpandTile> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand);

// Whether a depthwise convolution that could share a kernel with the 1x1 convolution before it, or with the
// one after it, should do so with the one before (DeviceTraits::compares_fusions).
bool prefers_expand_fusion(const DeviceCaps& caps, const ExpandDemand& before, const SeparableDemand& after);

// Whether one dispatch for a 1x1 and a 3x3 convolution of one input should take less time than one for each.
bool merges_branches(const DeviceCaps& caps, const TileDemand& narrow, const TileDemand& wide);

// Whether the last workgroup of a dispatch, of `invocations`, should compute the gates, that many products,
// of what the dispatch stores: it takes no dispatch of its own, but has fewer invocations.
bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations);

}  // namespace vellum

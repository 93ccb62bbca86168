// Tiles of conv_expand.comp, and the time that the kernel and the layers apart should take.
#pragma once

#include <cstdint>
#include <vector>

#include "caps/device_caps.hpp"
#include "cost/device_rates.hpp"
#include "cost/tiles.hpp"
#include "kernels/fused/predicted_time.hpp"

namespace vellum {

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

// Returns the tiles with which one kernel should take less time than two, with the gates, the quickest first;
// empty: none.
std::vector<TimedTile<ExpandTile>> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand);

// Predicts the time of the layers as dispatches of their own, the second with the gates.
LayersApart layers_apart(const DeviceCaps& caps, const DeviceRates& rates, const ExpandDemand& demand);

}  // namespace vellum

// Tiles of conv_expand.comp, and the predicted times of the kernel and of the unfused layers.
#pragma once

#include <cstdint>
#include <vector>

#include "caps/device_caps.hpp"
#include "cost/device_rates.hpp"
#include "cost/tiles.hpp"
#include "kernels/fused/predicted_time.hpp"

namespace vellum {

// A 1x1 convolution from `inputs` to `slices` slices of channels, followed by a depthwise convolution. The
// input has `images` images of x_width x x_height pixels, the output of width x height pixels.
struct ExpandDemand {
  int64_t width = 1, height = 1, images = 1;
  int64_t x_width = 1, x_height = 1;
  int64_t inputs = 1, slices = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
  int64_t texel_bytes = 16;  // of a stored texel of the tensors
  int64_t gates = 0;         // multiply-accumulates of the squeeze-and-excitation; 0: there is none
};

// A workgroup of conv_expand.comp computes width x height output pixels of `tile.slices` slices. It first
// computes the 1x1 convolution for all pixels that the windows of these pixels cover, and stores them in
// shared memory: each invocation computes `tile.pixels` of them at a time.
struct ExpandTile {
  int64_t width = 8, height = 8;
  OutputTile tile = {4, 1};
  int64_t invocations = 64;
  int64_t ahead = 1;  // input slices that are loaded together
  // Returns the maximum number of pixels that the windows of a tile cover.
  int64_t covered(const ExpandDemand& demand) const;
  // Return the pixels that are allocated in shared memory, and their bytes.
  int64_t capacity(const ExpandDemand& demand) const;
  int64_t shared_bytes(const ExpandDemand& demand) const;
  bool operator==(const ExpandTile&) const = default;
};

// Returns the tiles with which the fused kernel is predicted to take clearly less time than the unfused
// layers, gates included. The quickest tile is first. Empty if there is none.
std::vector<TimedTile<ExpandTile>> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand);

// Predicts the times of the unfused layers, each as a dispatch. The time of the depthwise convolution
// includes the gates.
UnfusedTimes layers_apart(const DeviceCaps& caps, const DeviceRates& rates, const ExpandDemand& demand);

}  // namespace vellum

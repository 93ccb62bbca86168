// Tiles of depthwise convolutions.
#pragma once

#include <cstdint>
#include <optional>

#include "caps/device_caps.hpp"

namespace vellum {

// The output of one invocation of a depthwise convolution: pixels of each of some rows of one slice.
struct PixelTile {
  int64_t pixels = 1, rows = 1;
  bool operator==(const PixelTile&) const = default;
};

// A depthwise convolution of a square window: `planes` slices of all images together, of width x height
// pixels.
struct DepthwiseDemand {
  int64_t width = 1, height = 1, planes = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
};

// Returns the tile of a depthwise convolution that loads rows once for several output rows; nothing where
// that is slower (DeviceTraits::depthwise_tiles).
std::optional<PixelTile> depthwise_tile(const DeviceCaps& caps, const DepthwiseDemand& demand);

}  // namespace vellum

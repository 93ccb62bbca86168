// Tiles of depthwise convolutions that compute several rows of the output.
#pragma once

#include <cstdint>
#include <optional>

#include "caps/device_caps.hpp"

namespace vellum {

// The output of one invocation of a depthwise convolution: `rows` rows of `pixels` pixels of one slice.
struct PixelTile {
  int64_t pixels = 1, rows = 1;
  bool operator==(const PixelTile&) const = default;
};

// A depthwise convolution with a square window. The output has `planes` slices, of all images together, of
// width x height pixels.
struct DepthwiseDemand {
  int64_t width = 1, height = 1, planes = 1;
  int64_t kernel = 3, stride_x = 1, stride_y = 1;
};

// Returns the best tile of the kernel that loads each input row once for several output rows. Returns nothing
// if this kernel is slower on the device (DeviceTraits::depthwise_tiles).
std::optional<PixelTile> depthwise_tile(const DeviceCaps& caps, const DepthwiseDemand& demand);

}  // namespace vellum

// A model of the machine code that GPUs' compilers make of the loop over a tile of a convolution or matrix
// product (conv_tile.glsl), fitted to such code (docs/gpu_compilers.md).
#pragma once

#include "cost/device_traits.hpp"
#include "cost/tiles.hpp"

namespace vellum {

struct TileCode {
  double macs_per_step = 0;  // multiply-accumulates of one invocation with one slice of x and one tap
  // Multiply-accumulates in the time of one at the peak rate, as far as instructions and the first cache's
  // bandwidth limit them.
  double efficiency = 1;
  double resident = 0;  // subgroups that a unit holds at a time
};

// `uniform`: all invocations of a workgroup load the same weights.
TileCode tile_code(const DeviceTraits& traits, const OutputTile& tile, bool uniform,
                   const WindowRow& row = {});

}  // namespace vellum

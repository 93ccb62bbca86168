// A model of the machine code of the loop over a tile of a convolution or matrix product (conv_tile.glsl). It
// is fitted to the code that compilers for GPUs generate (docs/gpu_compilers.md).
#pragma once

#include "cost/device_traits.hpp"
#include "cost/tiles.hpp"

namespace vellum {

struct TileCode {
  double macs_per_step = 0;  // multiply-accumulates of one invocation for one slice of x and one tap
  // The share of the peak rate of multiply-adds of floats that the loop can reach: instructions that do not
  // multiply, and the bandwidth of the first cache, limit it. Dot products may exceed 1.
  double efficiency = 1;
  double resident = 0;  // subgroups that a unit holds at a time
};

// Returns the figures of the code for a tile. `uniform`: all invocations of a workgroup load the same
// weights. `multiplies_dots`: an instruction multiplies four bytes with four (dot_products.glsl).
TileCode tile_code(const DeviceTraits& traits, const OutputTile& tile, bool uniform,
                   const WindowRow& row = {}, bool multiplies_dots = false);

}  // namespace vellum

// Predicted times of kernels, by which fused kernels are compared with those that they replace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "caps/device_caps.hpp"
#include "vellum/device_rates.hpp"

namespace vellum {

// The share of the time of the kernels that it replaces which one kernel must take less than: their times
// were fitted to machine code, its time was not.
inline constexpr double kWorthOneKernel = 0.9;
// The share of instructions that multiply, in depthwise parts where every value that is loaded is checked.
inline constexpr double kCheckedEfficiency = 0.3;

// The predicted times of a depthwise and a 1x1 convolution as dispatches of their own.
struct LayersApart {
  double depthwise_us = 0, pointwise_us = 0;
};

// A tile of a fused kernel and its predicted time.
template <typename Tile>
struct TimedTile {
  Tile tile;
  double us = 0;
};

// Returns the quickest of the tiles with which one kernel takes less than kWorthOneKernel of the time of the
// layers apart, the quickest first. `us_of`: the predicted time of the kernel with a tile.
template <typename Tile, typename Time>
std::vector<TimedTile<Tile>> quickest_tiles(const std::vector<Tile>& tiles, const Time& us_of,
                                            const LayersApart& apart) {
  constexpr size_t kMostTiles = 3;  // each is a candidate of `vellum tune`
  const double most = kWorthOneKernel * (apart.depthwise_us + apart.pointwise_us);
  std::vector<TimedTile<Tile>> timed;
  for (const Tile& tile : tiles)
    if (const double us = us_of(tile); us < most) timed.push_back({tile, us});
  std::ranges::stable_sort(timed, {}, &TimedTile<Tile>::us);
  if (timed.size() > kMostTiles) timed.resize(kMostTiles);
  return timed;
}

// Returns the predicted time of a depthwise convolution that stores `texels`.
double depthwise_us(const DeviceCaps& caps, const DeviceRates& rates, double texels, double taps,
                    double bytes);
// Returns the predicted time of a 1x1 convolution of `pixels` in rows of `width`, from slices to slices.
double product_us(const DeviceCaps& caps, const DeviceRates& rates, int64_t pixels, int64_t width,
                  int64_t inputs, int64_t outputs, int64_t texel_bytes);

}  // namespace vellum

// Predicted times of kernels, to compare a fused kernel with the unfused kernels that it replaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "caps/device_caps.hpp"
#include "vellum/device_rates.hpp"

namespace vellum {

// A fused kernel is used only if its predicted time is below this share of the unfused time. The margin
// exists because the model was fitted to the machine code of unfused kernels only.
inline constexpr double kMaxFusedTimeShare = 0.9;
// The share of instructions that multiply, in the depthwise part of a fused kernel, which checks every loaded
// value for padding.
inline constexpr double kCheckedEfficiency = 0.3;

// Predicted microseconds of the two layers without fusion: a 1x1 convolution or a product of matrices, and
// the other layer.
struct UnfusedTimes {
  double other_us = 0, product_us = 0;
};

// A tile of a fused kernel and its predicted microseconds.
template <typename Tile>
struct TimedTile {
  Tile tile;
  double us = 0;
};

// Returns the three quickest tiles, the quickest first. A tile counts only if the fused kernel with it takes
// less than kMaxFusedTimeShare of the unfused time. `us_of`: returns the predicted microseconds with a tile.
template <typename Tile, typename Time>
std::vector<TimedTile<Tile>> quickest_tiles(const std::vector<Tile>& tiles, const Time& us_of,
                                            const UnfusedTimes& apart) {
  constexpr size_t kMostTiles = 3;  // each is a candidate of `vellum tune`
  const double most = kMaxFusedTimeShare * (apart.other_us + apart.product_us);
  std::vector<TimedTile<Tile>> timed;
  for (const Tile& tile : tiles)
    if (const double us = us_of(tile); us < most) timed.push_back({tile, us});
  std::ranges::stable_sort(timed, {}, &TimedTile<Tile>::us);
  if (timed.size() > kMostTiles) timed.resize(kMostTiles);
  return timed;
}

// Returns the predicted microseconds of a depthwise convolution that stores `texels`.
double depthwise_us(const DeviceCaps& caps, const DeviceRates& rates, double texels, double taps,
                    double bytes);
// Returns the predicted microseconds of a 1x1 convolution of `pixels` in rows of `width`, from `inputs` to
// `outputs` slices.
double product_us(const DeviceCaps& caps, const DeviceRates& rates, int64_t pixels, int64_t width,
                  int64_t inputs, int64_t outputs, int64_t texel_bytes);

}  // namespace vellum

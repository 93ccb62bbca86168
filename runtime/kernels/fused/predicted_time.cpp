#include "kernels/fused/predicted_time.hpp"

#include "cost/dispatch_time.hpp"
#include "cost/subgroups.hpp"
#include "cost/timed_tiles.hpp"

namespace vellum {

double depthwise_us(const DeviceCaps& caps, const DeviceRates& rates, double texels, double taps,
                    double bytes) {
  constexpr double kEfficiency = 0.5;  // half the instructions of depthwise kernels multiply
  return dispatch_time(rates, {.macs = 4 * taps * texels,
                               .bytes = bytes,
                               .subgroups = texels / subgroup_size(caps),
                               .subgroup_size = subgroup_size(caps),
                               .steps = kStepsAround + taps / 4})
      .total_us(kEfficiency);
}

double product_us(const DeviceCaps& caps, const DeviceRates& rates, int64_t pixels, int64_t width,
                  int64_t inputs, int64_t outputs, int64_t texel_bytes) {
  TileDemand product{pixels, 1, outputs, 16 * pixels * inputs * outputs, {}, true};
  product.halves = texel_bytes == 8;
  product.row_pixels = width;
  const SplitTile tile = quickest(caps, product, std::min<int64_t>(inputs, 16));
  const int64_t texels = pixels * (inputs + outputs) + (4 * inputs + 1) * outputs;
  return tile_us(caps, rates, tile, product, static_cast<double>(texel_bytes * texels));
}

}  // namespace vellum

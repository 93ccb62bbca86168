#include "kernels/fused/expand_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "cost/gates.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "cost/timed_tiles.hpp"

namespace vellum {

int64_t ExpandTile::covered(const ExpandDemand& demand) const {
  const int64_t columns = std::min((width - 1) * demand.stride_x + demand.kernel, demand.x_width);
  const int64_t rows = std::min((height - 1) * demand.stride_y + demand.kernel, demand.x_height);
  return columns * rows;
}

int64_t ExpandTile::capacity(const ExpandDemand& demand) const {
  constexpr int64_t kStep = 64;  // rounded up, so that layers of nearly equal size share a pipeline
  return (covered(demand) + kStep - 1) / kStep * kStep;
}

int64_t ExpandTile::shared_bytes(const ExpandDemand& demand) const {
  return demand.texel_bytes * capacity(demand) * tile.slices;
}

UnfusedTimes layers_apart(const DeviceCaps& caps, const DeviceRates& rates, const ExpandDemand& demand) {
  const auto texel = static_cast<double>(demand.texel_bytes), slices = static_cast<double>(demand.slices);
  const double middle =
      texel * static_cast<double>(demand.x_width * demand.x_height * demand.images) * slices;
  const double outputs = static_cast<double>(demand.width * demand.height * demand.images) * slices;
  const auto taps = static_cast<double>(demand.kernel * demand.kernel);
  const double gates = demand.gates > 0 ? rates.launch_us + rates.barrier_us +
                                              1e-3 * rates.latency_ns * gate_steps(demand.gates, 256)
                                        : 0;
  return {.other_us =
              gates + depthwise_us(caps, rates, outputs, taps, middle + texel * (outputs + taps * slices)),
          .product_us = product_us(caps, rates, demand.x_width * demand.x_height * demand.images,
                                   demand.x_width, demand.inputs, demand.slices, demand.texel_bytes)};
}

namespace {

// Returns the predicted microseconds of both layers in one dispatch, gates included.
double expand_us(const DeviceCaps& caps, const DeviceRates& rates, const ExpandTile& tile,
                 const ExpandDemand& demand) {
  const auto workgroups =
      static_cast<double>(blocks(demand.width, tile.width) * blocks(demand.height, tile.height) *
                          demand.images * blocks(demand.slices, tile.tile.slices));
  // How often an invocation multiplies all input slices, and how often it filters four pixels.
  const int64_t multiplies = blocks(tile.covered(demand), tile.tile.pixels * tile.invocations);
  const int64_t filters = blocks(blocks(tile.width, 4) * tile.height, tile.invocations) * tile.tile.slices;
  const TileCode code = tile_code(device_traits(caps), tile.tile, loads_uniform_weights_cheaply(caps, 1));
  const double multiplied = static_cast<double>(multiplies * demand.inputs) * code.macs_per_step;
  const double filtered = static_cast<double>(16 * demand.kernel * demand.kernel * filters);
  const uint32_t subgroup = subgroup_of_large_kernels(caps);
  // Subgroups without pixels compute nothing.
  const int64_t busy = blocks(blocks(tile.covered(demand), tile.tile.pixels), subgroup) * subgroup;
  const auto subgroups = static_cast<double>(blocks(tile.invocations, subgroup));
  const double held = std::max(1.0, static_cast<double>(caps.max_shared_memory_bytes) /
                                        static_cast<double>(tile.shared_bytes(demand)));
  const auto texel = static_cast<double>(demand.texel_bytes);
  const auto inputs = static_cast<double>(demand.inputs), slices = static_cast<double>(demand.slices);
  const auto x_pixels = static_cast<double>(demand.x_width * demand.x_height * demand.images);
  const auto y_pixels = static_cast<double>(demand.width * demand.height * demand.images);
  const auto taps = static_cast<double>(demand.kernel * demand.kernel);
  return dispatch_time(
             rates,
             {.macs = workgroups * static_cast<double>(std::min(tile.invocations, busy)) *
                      (filtered * code.efficiency / kCheckedEfficiency + multiplied),
              .bytes = texel * (x_pixels * inputs + y_pixels * slices + (4 * inputs + 2 + taps) * slices),
              .subgroups = workgroups * subgroups,
              .subgroup_size = subgroup,
              .steps = kStepsAround + 2 * kStepsToReduce + static_cast<double>(filters) +
                       static_cast<double>(multiplies * blocks(demand.inputs, tile.ahead)),
              .last_steps = gate_steps(demand.gates, tile.invocations, device_traits(caps).gate_slices_ahead),
              .resident = std::min(
                  {code.resident, device_traits(caps).most_resident_expand, std::floor(held) * subgroups})})
      .total_us(code.efficiency);
}

bool fits(const DeviceCaps& caps, const ExpandTile& tile, const ExpandDemand& demand) {
  constexpr int64_t kMostShared = 32 << 10;
  // For means a workgroup also holds one texel for each invocation.
  const int64_t shared = tile.shared_bytes(demand) + 16 * tile.invocations;
  return tile.invocations <= caps.max_workgroup_invocations &&
         tile.invocations <= caps.max_workgroup_size[0] &&
         shared <= std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Returns tiles that are whole images, or parts of about equal size with rows of at least four pixels.
std::vector<ExpandTile> possible_tiles(const DeviceCaps& caps, const ExpandDemand& demand) {
  std::vector<ExpandTile> tiles;
  const auto more = [](int64_t parts) { return parts < 8 ? parts + 1 : 2 * parts; };
  for (int64_t columns = 1; columns == 1 || demand.width >= 8 * columns; columns = more(columns))
    for (int64_t rows = 1; rows <= demand.height; rows = more(rows))
      for (const int64_t pixels : {1, 2, 4})
        for (const int64_t slices : {1, 2})
          for (const int64_t invocations : {64, 128, 256}) {
            const OutputTile sums{pixels, slices};
            // Two slices, if each invocation has only half of the registers.
            const int64_t most_ahead = invocations > device_traits(caps).most_full_register_group ? 2 : 4;
            const ExpandTile tile{blocks(demand.width, columns), blocks(demand.height, rows), sums,
                                  invocations, std::min(slices_ahead(caps, sums, false, false), most_ahead)};
            if (pixels * slices > device_traits(caps).most_sums || slices >= 2 * demand.slices) continue;
            // Invocations without pixels are idle, unless they compute gates.
            if (invocations > 64 && demand.gates == 0 &&
                invocations >= 2 * blocks(tile.covered(demand), pixels))
              continue;
            if (fits(caps, tile, demand)) tiles.push_back(tile);
          }
  return tiles;
}

}  // namespace

std::vector<TimedTile<ExpandTile>> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand) {
  if (!device_traits(caps).fuses_expand) return {};
  const DeviceRates rates = device_rates(caps);
  return quickest_tiles(
      possible_tiles(caps, demand),
      [&](const ExpandTile& tile) { return expand_us(caps, rates, tile, demand); },
      layers_apart(caps, rates, demand));
}

}  // namespace vellum

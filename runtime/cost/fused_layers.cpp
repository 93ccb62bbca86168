#include "cost/fused_layers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/device_rates.hpp"
#include "cost/device_traits.hpp"
#include "cost/dispatch_time.hpp"
#include "cost/registers.hpp"
#include "cost/subgroups.hpp"
#include "cost/timed_tiles.hpp"

namespace vellum {

int64_t SeparableTile::shared_bytes(const SeparableDemand& demand) const {
  // In steps of 4 KiB, so that layers of nearly as many channels share a pipeline.
  constexpr int64_t kSumBytes = 16, kStep = 4 << 10;
  const int64_t sums = split_k > 1 ? kSumBytes * invocations() * tile.pixels * tile.slices : 0;
  return (std::max(demand.texel_bytes * demand.inputs * pixels(), sums) + kStep - 1) / kStep * kStep;
}

int64_t ExpandTile::covered(const ExpandDemand& demand) const {
  const int64_t columns = std::min((width - 1) * demand.stride_x + demand.kernel, demand.x_width);
  const int64_t rows = std::min((height - 1) * demand.stride_y + demand.kernel, demand.x_height);
  return columns * rows;
}

int64_t ExpandTile::capacity(const ExpandDemand& demand) const {
  constexpr int64_t kStep = 64;  // so that layers of nearly as many pixels share a pipeline
  return (covered(demand) + kStep - 1) / kStep * kStep;
}

int64_t ExpandTile::shared_bytes(const ExpandDemand& demand) const {
  return demand.texel_bytes * capacity(demand) * tile.slices;
}

namespace {

// --- Depthwise separable convolutions ---

// Half the instructions of depthwise kernels multiply; a third where every value that they load is checked.
constexpr double kDepthwiseEfficiency = 0.5, kCheckedEfficiency = 0.3;

// The predicted time of a depthwise convolution that stores `texels`.
double depthwise_us(const DeviceCaps& caps, const DeviceRates& rates, double texels, double taps,
                    double bytes) {
  return dispatch_time(rates, {.macs = 4 * taps * texels,
                               .bytes = bytes,
                               .subgroups = texels / subgroup_size(caps),
                               .subgroup_size = subgroup_size(caps),
                               .steps = kStepsAround + taps / 4})
      .total_us(kDepthwiseEfficiency);
}

// Bytes of the tensors of the two layers: x, what the depthwise convolution computes, y, all weights.
struct SeparableBytes {
  double x, middle, y, filters, weights;
};

SeparableBytes bytes_of(const SeparableDemand& demand) {
  const auto texel = static_cast<double>(demand.texel_bytes);
  const double pixels = texel * static_cast<double>(demand.width * demand.height * demand.images);
  const auto inputs = static_cast<double>(demand.inputs), outputs = static_cast<double>(demand.outputs);
  return {.x = pixels * inputs * static_cast<double>(demand.stride_x * demand.stride_y),
          .middle = pixels * inputs,
          .y = pixels * outputs,
          .filters = texel * inputs * static_cast<double>(demand.kernel * demand.kernel + 1),
          .weights = texel * (4 * inputs + 1) * outputs};
}

// The predicted time of a 1x1 convolution of `pixels` in rows of `width`, from slices to slices.
double product_us(const DeviceCaps& caps, const DeviceRates& rates, int64_t pixels, int64_t width,
                  int64_t inputs, int64_t outputs, int64_t texel_bytes) {
  TileDemand product{pixels, 1, outputs, 16 * pixels * inputs * outputs, {}, true};
  product.halves = texel_bytes == 8;
  product.row_pixels = width;
  const SplitTile tile = quickest(caps, product, std::min<int64_t>(inputs, 16));
  const int64_t texels = pixels * (inputs + outputs) + (4 * inputs + 1) * outputs;
  return tile_us(caps, rates, tile, product, static_cast<double>(texel_bytes * texels));
}

// That of the 1x1 convolution after the depthwise convolution, in a dispatch of its own.
double product_us(const DeviceCaps& caps, const DeviceRates& rates, const SeparableDemand& demand) {
  return product_us(caps, rates, demand.width * demand.height * demand.images, demand.width, demand.inputs,
                    demand.outputs, demand.texel_bytes);
}

// The predicted time of the two layers as two dispatches.
double apart_us(const DeviceCaps& caps, const DeviceRates& rates, const SeparableDemand& demand) {
  const SeparableBytes bytes = bytes_of(demand);
  const auto texels = static_cast<double>(demand.width * demand.height * demand.images * demand.inputs);
  const auto taps = static_cast<double>(demand.kernel * demand.kernel);
  return depthwise_us(caps, rates, texels, taps, bytes.x + bytes.middle + bytes.filters) +
         product_us(caps, rates, demand);
}

// The predicted time of both layers in one dispatch.
double separable_us(const DeviceCaps& caps, const DeviceRates& rates, const SeparableTile& tile,
                    const SeparableDemand& demand) {
  const int64_t invocations = tile.invocations();
  const auto workgroups =
      static_cast<double>(blocks(demand.width, tile.width) * blocks(demand.height, tile.height) *
                          demand.images * blocks(demand.outputs, tile.slices));
  // The groups of four pixels that an invocation filters, and the input slices that it multiplies.
  const int64_t rounds = blocks(demand.inputs * tile.pixels() / 4, invocations);
  const int64_t slices = blocks(demand.inputs, tile.split_k);
  const TileCode code = tile_code(device_traits(caps), tile.tile, false);
  const double filtered = static_cast<double>(16 * demand.kernel * demand.kernel * rounds);
  const double multiplied = static_cast<double>(slices) * code.macs_per_step;
  const SeparableBytes bytes = bytes_of(demand);
  const uint32_t subgroup = subgroup_of_large_kernels(caps);
  const auto subgroups = static_cast<double>(blocks(invocations, subgroup));
  // As many workgroups as the shared memory of a unit holds, which a workgroup may take all of.
  const double held = std::max(1.0, static_cast<double>(caps.max_shared_memory_bytes) /
                                        static_cast<double>(tile.shared_bytes(demand)));
  const double steps = kStepsAround + static_cast<double>(rounds) + kStepsToReduce +
                       (tile.split_k > 1 ? kStepsToReduce : 0) +
                       static_cast<double>(blocks(slices, tile.ahead));
  const double lanes = device_traits(caps).counts_idle_lanes ? subgroups * static_cast<double>(subgroup)
                                                             : static_cast<double>(invocations);
  return dispatch_time(rates, {.macs = workgroups * lanes *
                                       (filtered * code.efficiency / kCheckedEfficiency + multiplied),
                               .bytes = bytes.x + bytes.y + bytes.filters + bytes.weights,
                               .subgroups = workgroups * subgroups,
                               .subgroup_size = subgroup,
                               .steps = steps,
                               .resident = std::min(code.resident, std::floor(held) * subgroups)})
      .total_us(code.efficiency);
}

bool fits(const DeviceCaps& caps, const SeparableTile& tile, const SeparableDemand& demand) {
  constexpr int64_t kMostShared = 32 << 10, kMostInvocations = 256;
  const int64_t most_invocations = std::min(device_traits(caps).most_full_register_group, kMostInvocations);
  const int64_t columns = tile.invocations() / tile.split_k;
  return tile.invocations() <= std::min<int64_t>(most_invocations, caps.max_workgroup_invocations) &&
         columns <= caps.max_workgroup_size[0] && tile.split_k <= caps.max_workgroup_size[1] &&
         tile.shared_bytes(demand) <= std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Tiles of 8 to 64 pixels that the device can run and that do not compute twice what there is. Those between
// them gain little, and each has a pipeline of its own.
std::vector<SeparableTile> possible_tiles(const DeviceCaps& caps, const SeparableDemand& demand) {
  std::vector<SeparableTile> tiles;
  for (const auto& [width, height] : {std::pair{4, 2}, {8, 2}, {8, 4}, {8, 8}})
    for (const int64_t pixels : {4, 8})
      for (const int64_t slices : {1, 2})
        for (int64_t groups = 1; slices * groups < 2 * demand.outputs; groups *= 2)
          for (int64_t split = 1; split <= std::min<int64_t>(demand.inputs, 16); split *= 4) {
            const OutputTile sums{pixels, slices};
            const SeparableTile tile{width,           height, sums,
                                     slices * groups, split,  weights_ahead(caps, sums, demand.kernel)};
            const bool wasteful =
                (width > 4 && width >= 2 * demand.width) || (height > 2 && height >= 2 * demand.height);
            if (wasteful || pixels * slices > device_traits(caps).most_sums) continue;
            if (fits(caps, tile, demand)) tiles.push_back(tile);
          }
  return tiles;
}

// The two kernels were fitted to machine code, this one was not: it must take less than this share of theirs.
constexpr double kWorthOneKernel = 0.9;
constexpr size_t kMostTiles = 3;  // each is a candidate of `vellum tune`

// The first of those that take less than `most`, the quickest first.
template <typename Tile>
std::vector<Tile> quickest_of(std::vector<std::pair<double, Tile>> timed, double most) {
  std::erase_if(timed, [&](const auto& row) { return row.first >= most; });
  std::ranges::stable_sort(timed, {}, &std::pair<double, Tile>::first);
  if (timed.size() > kMostTiles) timed.resize(kMostTiles);
  std::vector<Tile> tiles;
  for (const auto& [us, tile] : timed) tiles.push_back(tile);
  return tiles;
}

// --- A 1x1 convolution and the depthwise convolution after it ---

// The loads of an invocation that wait for one another while a workgroup computes gates: four texels of
// weights are loaded together.
double gate_steps(int64_t products, int64_t invocations, int64_t ahead = 1) {
  return products > 0 ? kStepsAround +
                            static_cast<double>(products) / (16.0 * static_cast<double>(invocations * ahead))
                      : 0;
}

// That of the 1x1 convolution before the depthwise convolution, in a dispatch of its own.
double product_us(const DeviceCaps& caps, const DeviceRates& rates, const ExpandDemand& demand) {
  return product_us(caps, rates, demand.x_width * demand.x_height * demand.images, demand.x_width,
                    demand.inputs, demand.slices, demand.texel_bytes);
}

// The predicted time of the two layers as two dispatches.
double apart_us(const DeviceCaps& caps, const DeviceRates& rates, const ExpandDemand& demand) {
  const auto texel = static_cast<double>(demand.texel_bytes), slices = static_cast<double>(demand.slices);
  const double middle =
      texel * static_cast<double>(demand.x_width * demand.x_height * demand.images) * slices;
  const double outputs = static_cast<double>(demand.width * demand.height * demand.images) * slices;
  const auto taps = static_cast<double>(demand.kernel * demand.kernel);
  const double gates = demand.gates > 0 ? rates.launch_us + rates.barrier_us +
                                              1e-3 * rates.latency_ns * gate_steps(demand.gates, 256)
                                        : 0;
  return gates + depthwise_us(caps, rates, outputs, taps, middle + texel * (outputs + taps * slices)) +
         product_us(caps, rates, demand);
}

// The predicted time of both layers in one dispatch, with the gates.
double expand_us(const DeviceCaps& caps, const DeviceRates& rates, const ExpandTile& tile,
                 const ExpandDemand& demand) {
  const auto workgroups =
      static_cast<double>(blocks(demand.width, tile.width) * blocks(demand.height, tile.height) *
                          demand.images * blocks(demand.slices, tile.tile.slices));
  // How often an invocation multiplies all input slices, and filters four pixels.
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
  // For means a workgroup holds one texel of each invocation besides.
  const int64_t shared = tile.shared_bytes(demand) + 16 * tile.invocations;
  return tile.invocations <= caps.max_workgroup_invocations &&
         tile.invocations <= caps.max_workgroup_size[0] &&
         shared <= std::min<int64_t>(kMostShared, caps.max_shared_memory_bytes);
}

// Whole images, or parts of about equal size, whose rows are not shorter than four pixels.
std::vector<ExpandTile> possible_tiles(const DeviceCaps& caps, const ExpandDemand& demand) {
  std::vector<ExpandTile> tiles;
  const auto more = [](int64_t parts) { return parts < 8 ? parts + 1 : 2 * parts; };
  for (int64_t columns = 1; columns == 1 || demand.width >= 8 * columns; columns = more(columns))
    for (int64_t rows = 1; rows <= demand.height; rows = more(rows))
      for (const int64_t pixels : {1, 2, 4})
        for (const int64_t slices : {1, 2})
          for (const int64_t invocations : {64, 128, 256}) {
            const OutputTile sums{pixels, slices};
            // With half the registers two.
            const int64_t most_ahead = invocations > device_traits(caps).most_full_register_group ? 2 : 4;
            const ExpandTile tile{blocks(demand.width, columns), blocks(demand.height, rows), sums,
                                  invocations, std::min(slices_ahead(caps, sums, false, false), most_ahead)};
            if (pixels * slices > device_traits(caps).most_sums || slices >= 2 * demand.slices) continue;
            // Invocations without pixels wait, except that they help with the gates.
            if (invocations > 64 && demand.gates == 0 &&
                invocations >= 2 * blocks(tile.covered(demand), pixels))
              continue;
            if (fits(caps, tile, demand)) tiles.push_back(tile);
          }
  return tiles;
}

}  // namespace

std::vector<SeparableTile> separable_tiles(const DeviceCaps& caps, const SeparableDemand& demand) {
  if (!device_traits(caps).fuses_separable) return {};
  const DeviceRates rates = device_rates(caps);
  std::vector<std::pair<double, SeparableTile>> timed;
  for (const SeparableTile& tile : possible_tiles(caps, demand))
    timed.emplace_back(separable_us(caps, rates, tile, demand), tile);
  return quickest_of(std::move(timed), kWorthOneKernel * apart_us(caps, rates, demand));
}

std::vector<ExpandTile> expand_tiles(const DeviceCaps& caps, const ExpandDemand& demand) {
  if (!device_traits(caps).fuses_expand) return {};
  const DeviceRates rates = device_rates(caps);
  std::vector<std::pair<double, ExpandTile>> timed;
  for (const ExpandTile& tile : possible_tiles(caps, demand))
    timed.emplace_back(expand_us(caps, rates, tile, demand), tile);
  return quickest_of(std::move(timed), kWorthOneKernel * apart_us(caps, rates, demand));
}

bool prefers_expand_fusion(const DeviceCaps& caps, const ExpandDemand& before, const SeparableDemand& after) {
  if (!device_traits(caps).compares_fusions) return false;
  const DeviceRates rates = device_rates(caps);
  const std::vector<ExpandTile> expand = expand_tiles(caps, before);
  const std::vector<SeparableTile> separable = separable_tiles(caps, after);
  if (expand.empty() || separable.empty()) return false;
  const double rather = expand_us(caps, rates, expand.front(), before) + product_us(caps, rates, after);
  return rather < kWorthOneKernel *
                      (product_us(caps, rates, before) + separable_us(caps, rates, separable.front(), after));
}

bool computes_gates_last(const DeviceCaps& caps, int64_t products, int64_t invocations) {
  constexpr int64_t kOfItsOwn = 256;  // invocations of squeeze_excite.comp
  if (!device_traits(caps).computes_gates_last) return false;
  const DeviceRates rates = device_rates(caps);
  const double longer = 1e-3 * rates.latency_ns *
                        (gate_steps(products, invocations, device_traits(caps).gate_slices_ahead) -
                         gate_steps(products, kOfItsOwn));
  return longer < rates.launch_us + rates.barrier_us;
}

bool merges_branches(const DeviceCaps& caps, const TileDemand& narrow, const TileDemand& wide) {
  if (!device_traits(caps).merges_branches) return false;
  constexpr int64_t kMostSplit = 16;
  TileDemand both = wide;
  both.slices += narrow.slices;
  both.macs += narrow.macs;
  // The second of two dispatches has no barrier before it, for it reads what the first reads.
  const double apart = quickest(caps, narrow, kMostSplit).us + quickest(caps, wide, kMostSplit).us -
                       device_rates(caps).barrier_us;
  return quickest(caps, both, kMostSplit).us < apart;
}

}  // namespace vellum

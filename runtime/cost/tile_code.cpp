#include "cost/tile_code.hpp"

#include <algorithm>

#include "caps/vendors.hpp"

namespace vellum {
namespace {

// Fitted to the loops of conv_pointwise in fp32 with tiles of 1x1 to 8x2 as Mesa 25.0.7 compiles them, except
// `macs_per_load`: the maker's, where known.
struct Compiler {
  uint32_t vendor;
  double step_slots;  // instructions of one step besides multiply-adds and what belongs to a load
  double load_slots;  // of each load with its address
  // Uniform weights: loads into scalar registers take no slot and no vector load, messages one load for four.
  double uniform_slots, uniform_loads;
  // Multiply-adds of a lane that take as long as its load of 16 bytes from the first cache. A cycle loads 128
  // bytes for RDNA's 64 lanes, as many for Ampere's 128, 64 for Turing's 64 (the makers' white papers). The
  // others are assumed.
  double macs_per_load;
  double registers;  // for each lane of a unit's subgroups together
  double most_resident;
};
constexpr Compiler kCompilers[] = {
    {kAmd, 0, 2, 0, 0, 8, 1536, 32},         {kIntel, 2, 3.2, 1, 0.25, 16, 896, 7},
    {kQualcomm, 30, 1.5, 1, 1, 16, 512, 16}, {kArm, 2, 1.8, 1, 1, 16, 1024, 16},
    {kNvidia, 4, 5.5, 1, 1, 16, 512, 16},
};
constexpr Compiler kOtherCompilers = {0, 2, 2, 1, 1, 16, 512, 16};

const Compiler& compiler(uint32_t vendor_id) {
  const auto* const found =
      std::ranges::find_if(kCompilers, [&](const Compiler& row) { return row.vendor == vendor_id; });
  return found == std::end(kCompilers) ? kOtherCompilers : *found;
}

}  // namespace

TileCode tile_code(uint32_t vendor_id, const OutputTile& tile, bool uniform, const WindowRow& row) {
  const Compiler& code = compiler(vendor_id);
  const auto pixels = static_cast<double>(tile.pixels), slices = static_cast<double>(tile.slices);
  const auto taps = static_cast<double>(row.taps), stride = static_cast<double>(row.stride);
  // A tap multiplies a texel of each pixel with four texels of weights for each slice.
  const double macs = 16 * pixels * slices, weights = 4 * slices;
  const double columns = row.taps > 1 ? (pixels - 1) * stride + taps : pixels;
  const double slots = code.step_slots + code.load_slots * columns +
                       code.load_slots * taps * weights * (uniform ? code.uniform_slots : 1) +
                       4 * columns * static_cast<double>(row.operations);
  const double loads = columns + taps * weights * (uniform ? code.uniform_loads : 1);
  // A column has its place besides its texel; the weights of all taps of a row are loaded ahead.
  const double registers = 20 + 4 * pixels * slices + 7 * columns + (uniform ? 0 : 4 * taps * weights);
  return {.macs_per_step = macs,
          .efficiency = 1 / std::max(1 + slots / (taps * macs), code.macs_per_load * loads / (taps * macs)),
          .resident = std::clamp(code.registers / registers, 1.0, code.most_resident)};
}

}  // namespace vellum

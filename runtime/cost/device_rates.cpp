#include "cost/device_rates.hpp"

#include <algorithm>

#include "caps/vendors.hpp"

namespace vellum {
namespace {

// Columns: lanes, boost clock in GHz, memory bandwidth (data rate x bus) in GB/s, units. They are from the
// makers' data sheets of the product in the comment. If a chip can issue two multiply-accumulates at once for
// some instructions (RDNA 3's VOPD), the second is not counted. Units are AMD's SIMDs, Adreno's shader
// processors, Intel's execution units, NVIDIA's quarters of a multiprocessor, and Mali's groups of sixteen
// lanes.
constexpr ChipRates kChips[] = {
    {"NAVI31", kAmd, 6144, 2.50, 960, 192},              // Radeon RX 7900 XTX
    {"NAVI21", kAmd, 5120, 2.25, 512, 160},              // Radeon RX 6900 XT
    {"NAVI10", kAmd, 2560, 1.905, 448, 80},              // Radeon RX 5700 XT
    {"GFX1150", kAmd, 1024, 2.90, 120, 32},              // Radeon 890M
    {"VANGOGH", kAmd, 512, 1.60, 88, 16},                // Steam Deck
    {"VEGA10", kAmd, 4096, 1.546, 484, 256},             // Radeon RX Vega 64
    {"RENOIR", kAmd, 512, 1.75, 68, 32},                 // Ryzen 7 4800U
    {"RAVEN", kAmd, 704, 1.25, 47, 44},                  // Ryzen 5 2400G
    {"POLARIS10", kAmd, 2304, 1.34, 256, 144},           // Radeon RX 580
    {"PITCAIRN", kAmd, 1280, 1.00, 154, 80},             // Radeon HD 7870
    {"Adreno (TM) 618", kQualcomm, 256, 0.70, 15, 1},    // Snapdragon 730
    {"Adreno (TM) 660", kQualcomm, 1024, 0.84, 51, 3},   // Snapdragon 888
    {"Adreno (TM) 730", kQualcomm, 1024, 0.90, 51, 4},   // Snapdragon 8+ Gen 1
    {"Adreno (TM) 740", kQualcomm, 1536, 0.68, 67, 6},   // Snapdragon 8 Gen 2
    {"Adreno (TM) 750", kQualcomm, 1536, 0.903, 77, 6},  // Snapdragon 8 Gen 3
    {"SKL GT2", kIntel, 192, 1.15, 34, 24},              // HD Graphics 530
    {"ICL GT2", kIntel, 512, 1.10, 51, 64},              // Iris Plus G7
    {"TGL GT2", kIntel, 768, 1.35, 68, 96},              // Iris Xe, 96 units
    {"ADL GT2", kIntel, 768, 1.40, 77, 96},              // Iris Xe, 96 units
    {"MTL", kIntel, 1024, 2.25, 120, 128},               // Arc graphics of Core Ultra, 128 units
    {"RTX 2080", kNvidia, 2944, 1.71, 448, 184},
    {"RTX 3090", kNvidia, 10496, 1.695, 936, 328},
    {"RTX 4090", kNvidia, 16384, 2.52, 1008, 512},
    {"H100", kNvidia, 16896, 1.98, 3350, 528},
    {"H200", kNvidia, 16896, 1.98, 4800, 528},
    {"Mali-G610", kArm, 256, 1.00, 34, 16},  // four cores of RK3588
};

// The rates of unknown chips: of a mid-range discrete GPU, and of the GPU of a common laptop or phone.
constexpr ChipRates kDiscrete = {"", 0, 3072, 1.7, 300, 96}, kIntegrated = {"", 0, 768, 1.0, 50, 24};
// The rates of drivers that run on a few cores of a CPU: a guess, which is used if such a session limits
// submits.
constexpr ChipRates kCpuRates = {"", 0, 16, 1.0, 10, 4};

DeviceRates rates_of(const ChipRates& chip, const DeviceTraits& traits) {
  return with_latencies({.gigamacs_per_s = chip.lanes * chip.gigahertz,
                         .gigabytes_per_s = chip.gigabytes_per_s,
                         .units = chip.units,
                         .lanes = chip.lanes},
                        traits);
}

}  // namespace

std::optional<ChipRates> chip_rates(std::string_view device_name) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  for (const ChipRates& row : kChips) {
    const auto found = std::search(device_name.begin(), device_name.end(), row.chip.begin(), row.chip.end(),
                                   [&](char a, char b) { return upper(a) == upper(b); });
    if (found != device_name.end()) return row;
  }
  return std::nullopt;
}

DeviceRates device_rates(const ChipRates& chip) { return rates_of(chip, gpu_traits(chip.vendor_id)); }

DeviceRates device_rates(const DeviceCaps& caps) {
  if (const std::optional<ChipRates> chip = chip_rates(caps.name))
    return rates_of(*chip, caps.traits ? *caps.traits : gpu_traits(chip->vendor_id));
  const ChipRates& common = caps.type == DeviceType::integrated_gpu ? kIntegrated
                            : caps.type == DeviceType::cpu          ? kCpuRates
                                                                    : kDiscrete;
  return rates_of(common, device_traits(caps));
}

DeviceRates with_latencies(DeviceRates rates, const DeviceTraits& traits) {
  const auto fill = [](double& figure, double assumed) {
    if (figure == 0) figure = assumed;
  };
  fill(rates.latency_ns, traits.latency_ns);
  fill(rates.launch_us, traits.launch_us);
  fill(rates.barrier_us, traits.barrier_us);
  return rates;
}

}  // namespace vellum

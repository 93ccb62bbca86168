#include "cost/device_rates.hpp"

#include <algorithm>

#include "caps/vendors.hpp"

namespace vellum {
namespace {

// Lanes, boost clock in GHz, memory (data rate x bus) in GB/s, units: from the makers' data sheets of the
// product after the name. Where a chip can issue two multiply-accumulates at once for some instructions (RDNA
// 3's VOPD), the second is not counted. Units: AMD's SIMDs, Adreno's shader processors, Intel's execution
// units, NVIDIA's quarters of a multiprocessor, Mali's groups of sixteen lanes.
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
    {"Mali-G610", kArm, 256, 1.00, 34, 16},  // four cores of RK3588
};

// Assumed, for no maker publishes them, and to be replaced by measurements. Launches and barriers: a few
// microseconds on desktops, ten to twenty on phones. ncnn's measured times of blazeface
// (benchmark/README.md there), whose fifty small layers leave little else, bound both together, with the rest
// of a run, from above: 12 us a layer on RTX 3090, 57 us on Adreno 660, 50 us on Mali-G610. Latencies: of a
// load from the second cache; pointer chasing on RX 6800 XT and RTX 3090 finds 90 and 140 ns (Chips and
// Cheese, 2021), the others are taken to be slower as their clocks are.
struct Latencies {
  uint32_t vendor;
  double latency_ns, launch_us, barrier_us;
};
constexpr Latencies kLatencies[] = {
    {kAmd, 100, 1.5, 2.5},  {kNvidia, 140, 1.5, 2.5}, {kIntel, 150, 3, 4},
    {kQualcomm, 250, 5, 8}, {kArm, 250, 5, 10},       {kImagination, 250, 5, 10},
};
constexpr Latencies kOtherLatencies = {0, 150, 3, 5};

const Latencies& latencies(uint32_t vendor_id) {
  const auto* const found =
      std::ranges::find_if(kLatencies, [&](const Latencies& row) { return row.vendor == vendor_id; });
  return found == std::end(kLatencies) ? kOtherLatencies : *found;
}

// Where the chip is unknown: a discrete GPU of the middle class, or that of a common laptop or phone.
constexpr ChipRates kDiscrete = {"", 0, 3072, 1.7, 300, 96}, kIntegrated = {"", 0, 768, 1.0, 50, 24};
// Drivers that run on a few cores of a CPU: a guess, for sessions there with a limit of submits.
constexpr ChipRates kCpu = {"", 0, 16, 1.0, 10, 4};

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

DeviceRates device_rates(const ChipRates& chip) {
  return with_latencies({.gigamacs_per_s = chip.lanes * chip.gigahertz,
                         .gigabytes_per_s = chip.gigabytes_per_s,
                         .units = chip.units,
                         .lanes = chip.lanes},
                        chip.vendor_id);
}

DeviceRates device_rates(const DeviceCaps& caps) {
  if (const std::optional<ChipRates> chip = chip_rates(caps.name)) return device_rates(*chip);
  ChipRates common = caps.type == DeviceType::integrated_gpu ? kIntegrated
                     : caps.type == DeviceType::cpu          ? kCpu
                                                             : kDiscrete;
  common.vendor_id = caps.vendor_id;
  return device_rates(common);
}

DeviceRates with_latencies(DeviceRates rates, uint32_t vendor_id) {
  const Latencies& vendor = latencies(vendor_id);
  const auto fill = [](double& figure, double assumed) {
    if (figure == 0) figure = assumed;
  };
  fill(rates.latency_ns, vendor.latency_ns);
  fill(rates.launch_us, vendor.launch_us);
  fill(rates.barrier_us, vendor.barrier_us);
  return rates;
}

}  // namespace vellum

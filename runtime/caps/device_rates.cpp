#include "caps/device_rates.hpp"

#include <algorithm>

namespace vellum {
namespace {

// Lanes x boost clock in GHz, from the makers' data sheets of the product after the name; where a chip can
// issue two multiply-accumulates at once for some instructions (RDNA 3's VOPD), the second is not counted.
// Memory: data rate x bus. Units: AMD's SIMDs, Adreno's shader processors, Intel's execution units.
constexpr ChipRates kChips[] = {
    {"NAVI31", 6144 * 2.50, 960, 192},         // Radeon RX 7900 XTX
    {"NAVI21", 5120 * 2.25, 512, 160},         // Radeon RX 6900 XT
    {"NAVI10", 2560 * 1.905, 448, 80},         // Radeon RX 5700 XT
    {"GFX1150", 1024 * 2.90, 120, 32},         // Radeon 890M
    {"VANGOGH", 512 * 1.60, 88, 16},           // Steam Deck
    {"VEGA10", 4096 * 1.546, 484, 256},        // Radeon RX Vega 64
    {"RENOIR", 512 * 1.75, 68, 32},            // Ryzen 7 4800U
    {"RAVEN", 704 * 1.25, 47, 44},             // Ryzen 5 2400G
    {"POLARIS10", 2304 * 1.34, 256, 144},      // Radeon RX 580
    {"PITCAIRN", 1280 * 1.00, 154, 80},        // Radeon HD 7870
    {"Adreno (TM) 618", 256 * 0.70, 15, 1},    // Snapdragon 730
    {"Adreno (TM) 660", 1024 * 0.84, 51, 3},   // Snapdragon 888
    {"Adreno (TM) 730", 1024 * 0.90, 51, 4},   // Snapdragon 8+ Gen 1
    {"Adreno (TM) 740", 1536 * 0.68, 67, 6},   // Snapdragon 8 Gen 2
    {"Adreno (TM) 750", 1536 * 0.903, 77, 6},  // Snapdragon 8 Gen 3
    {"SKL GT2", 192 * 1.15, 34, 24},           // HD Graphics 530
    {"ICL GT2", 512 * 1.10, 51, 64},           // Iris Plus G7
    {"TGL GT2", 768 * 1.35, 68, 96},           // Iris Xe, 96 units
    {"ADL GT2", 768 * 1.40, 77, 96},           // Iris Xe, 96 units
    {"MTL", 1024 * 2.25, 120, 128},            // Arc graphics of Core Ultra, 128 units
};

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

}  // namespace vellum

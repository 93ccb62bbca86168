#include "caps/device_rates.hpp"

#include <algorithm>

namespace vellum {
namespace {

// Lanes x boost clock in GHz, from the makers' data sheets of the product after the name; where a chip can issue two
// multiply-accumulates at once for some instructions (RDNA 3's VOPD), the second is not counted. Memory: data rate x bus.
constexpr ChipRates kChips[] = {
    {"NAVI31", 6144 * 2.50, 960},            // Radeon RX 7900 XTX
    {"NAVI21", 5120 * 2.25, 512},            // Radeon RX 6900 XT
    {"NAVI10", 2560 * 1.905, 448},           // Radeon RX 5700 XT
    {"GFX1150", 1024 * 2.90, 120},           // Radeon 890M
    {"VANGOGH", 512 * 1.60, 88},             // Steam Deck
    {"VEGA10", 4096 * 1.546, 484},           // Radeon RX Vega 64
    {"RENOIR", 512 * 1.75, 68},              // Ryzen 7 4800U
    {"RAVEN", 704 * 1.25, 47},               // Ryzen 5 2400G
    {"POLARIS10", 2304 * 1.34, 256},         // Radeon RX 580
    {"PITCAIRN", 1280 * 1.00, 154},          // Radeon HD 7870
    {"Adreno (TM) 618", 256 * 0.70, 15},     // Snapdragon 730
    {"Adreno (TM) 660", 1024 * 0.84, 51},    // Snapdragon 888
    {"Adreno (TM) 730", 1024 * 0.90, 51},    // Snapdragon 8+ Gen 1
    {"Adreno (TM) 740", 1536 * 0.68, 67},    // Snapdragon 8 Gen 2
    {"Adreno (TM) 750", 1536 * 0.903, 77},   // Snapdragon 8 Gen 3
    {"SKL GT2", 192 * 1.15, 34},             // HD Graphics 530
    {"ICL GT2", 512 * 1.10, 51},             // Iris Plus G7
    {"TGL GT2", 768 * 1.35, 68},             // Iris Xe, 96 units
    {"ADL GT2", 768 * 1.40, 77},             // Iris Xe, 96 units
    {"MTL", 1024 * 2.25, 120},               // Arc graphics of Core Ultra, 128 units
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

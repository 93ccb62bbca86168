// The most that chips do, from published figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vellum {

struct ChipRates {
  std::string_view chip;       // part of the device's name
  double gigamacs_per_s = 0;   // fp32, at boost clock
  double gigabytes_per_s = 0;  // of the memory that it is usually sold with
  uint32_t units = 0;
};

// Finds the chip in the device's name as its driver gives it; nothing if no row fits.
std::optional<ChipRates> chip_rates(std::string_view device_name);

}  // namespace vellum

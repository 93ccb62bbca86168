// Peak rates of devices: figures of chips from data sheets, with latencies from the traits of their vendors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "caps/device_caps.hpp"
#include "cost/device_traits.hpp"
#include "vellum/device_rates.hpp"

namespace vellum {

struct ChipRates {
  std::string_view chip;  // part of the device's name
  uint32_t vendor_id = 0;
  uint32_t lanes = 0;          // fp32 multiply-accumulates in a cycle
  double gigahertz = 0;        // boost clock
  double gigabytes_per_s = 0;  // of the memory that it is usually sold with
  uint32_t units = 0;
};

// Finds the chip whose name is part of the device's name. Returns nothing if no row of the table fits.
std::optional<ChipRates> chip_rates(std::string_view device_name);

// Returns the rates of a chip with the latencies of its vendor.
DeviceRates device_rates(const ChipRates& chip);
// Returns the rates of the device's chip, or of a common GPU of its type if the chip is unknown.
DeviceRates device_rates(const DeviceCaps& caps);
// Returns `rates` with the latencies of `traits` where `rates` has none.
DeviceRates with_latencies(DeviceRates rates, const DeviceTraits& traits);

}  // namespace vellum

#include "caps/driver_quirks.hpp"

#include "caps/vendors.hpp"

namespace vellum {

void apply_driver_quirks(DeviceCaps& caps) {
  // Adreno drivers without 16-bit storage compute wrong results in fp16.
  if (caps.vendor_id == kQualcomm && !caps.fp16_buffer_storage) caps.fp16_arithmetic = false;
  // Some Mali drivers report 0 for the subgroup size and yet claim subgroup operations.
  if (caps.subgroup_size == 0)
    caps.subgroup_arithmetic = caps.subgroup_broadcast = caps.full_subgroups = false;
}

}  // namespace vellum

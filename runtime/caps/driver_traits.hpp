// What Vellum knows of particular drivers: how each likes to be used, and what it gets wrong.
#pragma once

#include "caps/device_caps.hpp"

namespace vellum {

// Sets the traits of `caps` from its vendor and type, where nothing was measured.
void apply_default_traits(DeviceCaps& caps);

// Switches off features that the driver claims and does not do right. The only place for such knowledge.
void apply_driver_quirks(DeviceCaps& caps);

}  // namespace vellum

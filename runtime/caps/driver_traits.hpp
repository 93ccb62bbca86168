// What Vellum knows of particular drivers: how each likes to be used, and what it gets wrong.
#pragma once

#include "caps/device_caps.hpp"

namespace vellum {

// Sets the traits of `caps` from its vendor and type, where nothing was measured.
void apply_default_traits(DeviceCaps& caps);

// Switches off features that the driver claims and does not do right. The only place for such knowledge.
void apply_driver_quirks(DeviceCaps& caps);

// Pipelines become machine code at their first dispatch, on the thread that executes submits, rather than
// where they are created.
bool compiles_at_first_dispatch(const DeviceCaps& caps);

// A value of another lane of the subgroup costs less than to load it again.
bool broadcasts_are_cheaper_than_loads(const DeviceCaps& caps);

}  // namespace vellum

// Plans of offsets as pictures show them.
#pragma once

#include "vellum/profile.hpp"

namespace vellum {

// In memory mode `offsets` every tensor has an object of its own, and what can be seen is how they lie over
// one another: there the arenas take the place of the objects. Other reports stay as they are. Throws
// Error(invalid_argument) where a tensor names an object that is not there, lies outside of it, or has no
// lifetime.
MemoryReport with_arenas_as_objects(MemoryReport memory);

}  // namespace vellum

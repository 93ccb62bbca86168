// Prepares plans of mode `offsets` for pictures.
#pragma once

#include "vellum/profile.hpp"

namespace vellum {

// Returns the report with arenas in place of objects, if its memory mode is `offsets`: there every tensor has
// an object of its own, and a picture has to show how the tensors alias inside an arena. Other reports are
// returned unchanged. Throws Error(invalid_argument) if a tensor names an object that does not exist, exceeds
// its object, or has no lifetime.
MemoryReport with_arenas_as_objects(MemoryReport memory);

}  // namespace vellum
